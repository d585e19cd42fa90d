/**
 * The service worker of the approvals page. It stores nothing, so each load shows what the daemon serves. A push has the
 * number of waiting calls alone, and its notification opens the page.
 */

interface WorkerEvent extends Event {
  waitUntil(done: Promise<unknown>): void;
}

interface FetchedEvent extends WorkerEvent {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

interface PushedEvent extends WorkerEvent {
  readonly data: { json(): unknown } | null;
}

interface ClickedEvent extends WorkerEvent {
  readonly notification: Notification;
}

/** A window of the page. */
interface PageClient {
  readonly url: string;
  focus(): Promise<unknown>;
  postMessage(message: string): void;
}

/** The parts of a service worker's global scope that are used; the types of a page have none. */
interface WorkerScope {
  readonly registration: Pick<ServiceWorkerRegistration, 'scope' | 'showNotification'>;
  readonly clients: {
    claim(): Promise<void>;
    matchAll(options: { type: 'window' }): Promise<PageClient[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: WorkerEvent) => void): void;
  addEventListener(type: 'push', listener: (event: PushedEvent) => void): void;
  addEventListener(type: 'notificationclick', listener: (event: ClickedEvent) => void): void;
  addEventListener(type: 'fetch', listener: (event: FetchedEvent) => void): void;
}

const scope = self as unknown as WorkerScope;

const offline = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Offline · Holdpoint</title>
<main>
<h1>You are offline</h1>
<p>Connect this device, and load the page again to see the approvals.</p>
</main>
`;

const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'",
};

scope.addEventListener('install', (event) => event.waitUntil(scope.skipWaiting()));
scope.addEventListener('activate', (event) => event.waitUntil(scope.clients.claim()));
// The page alone: the sign-in has redirects and cookies, which belong to the browser.
scope.addEventListener('fetch', (event) => {
  const { mode, url } = event.request;
  if (mode !== 'navigate' || url.split('#')[0] !== scope.registration.scope) return;
  const unavailable = (): Response => new Response(offline, { status: 503, headers });
  event.respondWith(fetch(event.request).catch(unavailable));
});

scope.addEventListener('push', (event) => event.waitUntil(notify(event.data)));
scope.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(openPage());
});

async function notify(data: PushedEvent['data']): Promise<void> {
  const title = waitingWords(numberIn(data));
  const options = {
    tag: 'waiting',
    renotify: true,
    icon: './icon-192.png',
    badge: './icon-192.png',
  };
  for (const page of await scope.clients.matchAll({ type: 'window' })) page.postMessage('waiting');
  await scope.registration.showNotification(title, options);
}

/** Returns the number in a push; 0 for a push of another form. */
function numberIn(data: PushedEvent['data']): number {
  try {
    const { waiting } = (data?.json() ?? {}) as { waiting?: unknown };
    return Number.isSafeInteger(waiting) ? (waiting as number) : 0;
  } catch {
    return 0;
  }
}

function waitingWords(waiting: number): string {
  if (waiting <= 0) return 'Calls are waiting for your approval';
  return waiting === 1
    ? '1 call is waiting for your approval'
    : `${waiting} calls are waiting for your approval`;
}

/** Focuses a window of the page, or opens one. */
async function openPage(): Promise<void> {
  const [page] = await scope.clients.matchAll({ type: 'window' });
  if (page === undefined) await scope.clients.openWindow(scope.registration.scope);
  else await page.focus();
}
