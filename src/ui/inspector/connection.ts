import type { Inspection } from './inspection.ts';

/** The status of a connection. */
export type Standing = 'connecting' | 'connected' | 'lost' | 'refused';

/** The WebSocket subprotocol of this page, sent in addition to the token. */
const protocol = 'holdpoint-inspector';

/** Milliseconds before the next attempt. */
const pause = 1_000;

/** Reads the stream of the daemon that served the page, and reconnects whenever it is lost. */
export function follow(
  token: string,
  onEvent: (event: Inspection) => void,
  onStanding: (standing: Standing) => void,
): void {
  let isOpen = false;
  onStanding('connecting');
  join();

  function join(): void {
    // The token is sent in a header, so that it appears in no URL.
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

  /**
   * A browser does not report why a WebSocket was not opened. If the daemon answers an HTTP request, it has refused the
   * socket.
   */
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
 * Reads the token from the URL's fragment (after `#`), which is never sent to a server, removes it from the URL, and
 * stores it for the lifetime of the tab. Returns `null` if the page was opened without one.
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
