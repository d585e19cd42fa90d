/** The service worker of the approvals page. It stores nothing, so each load shows what the daemon serves. */

interface WorkerEvent extends Event {
  waitUntil(done: Promise<unknown>): void;
}

interface FetchedEvent extends WorkerEvent {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

/** The parts of a service worker's global scope that are used; the types of a page have none. */
interface WorkerScope {
  readonly registration: { readonly scope: string };
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: WorkerEvent) => void): void;
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
