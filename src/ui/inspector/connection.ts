import type { Inspection } from './inspection.ts';

/** How a connection stands. */
export type Standing = 'connecting' | 'connected' | 'lost' | 'refused';

/** What the daemon knows this page by, beside its token. */
const protocol = 'holdpoint-inspector';

/** Milliseconds before the next try. */
const pause = 1_000;

/** Follows the stream of the daemon that served the page, and joins it again whenever it is lost. */
export function follow(
  token: string,
  onEvent: (event: Inspection) => void,
  onStanding: (standing: Standing) => void,
): void {
  let isOpen = false;
  onStanding('connecting');
  join();

  function join(): void {
    // The token goes in a header, so that it stands in no address.
    const socket = new WebSocket(`ws://${location.host}/`, [protocol, token]);
    let wasOpen = false;
    socket.addEventListener('open', () => {
      wasOpen = true;
      isOpen = true;
      onStanding('connected');
    });
    socket.addEventListener('message', ({ data }) =>
      onEvent(JSON.parse(String(data)) as Inspection),
    );
    socket.addEventListener('close', () => {
      isOpen = false;
      void tell(wasOpen);
      setTimeout(join, pause);
    });
  }

  /** No page learns why a socket was not opened; a daemon that answers otherwise has refused it. */
  async function tell(wasOpen: boolean): Promise<void> {
    const isRefused = !wasOpen && (await isThere());
    if (!isOpen) onStanding(isRefused ? 'refused' : 'lost');
  }
}

async function isThere(): Promise<boolean> {
  try {
    return (await fetch(location.pathname, { method: 'HEAD' })).ok;
  } catch {
    return false;
  }
}

/**
 * Takes the token out of the address, where it stands behind `#` and so is sent to nobody, and keeps it for as long
 * as the tab is open. Returns `null` when the page was opened without one.
 */
export function takeToken(): string | null {
  const key = 'holdpoint-inspector-token';
  const given = location.hash.slice(1);
  if (given !== '') {
    sessionStorage.setItem(key, given);
    history.replaceState(null, '', location.pathname);
  }
  return sessionStorage.getItem(key);
}
