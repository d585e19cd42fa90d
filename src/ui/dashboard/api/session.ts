const key = 'holdpoint.token';

/**
 * Keeps the token of the dashboard for this tab, and passes it on to other tabs of the same browser that ask for it, such
 * as one that a link in a chat has opened. A token that came in the address is taken out of it at once, so that it stays
 * neither in the history nor in what is copied.
 */
export class Session {
  readonly #tabs = new BroadcastChannel(key);
  #token: string | null = sessionStorage.getItem(key);

  get token(): string | null {
    return this.#token;
  }

  /** Takes `#token=…` from the address of the page; true when there was one. */
  takeFromAddress(): boolean {
    const given = new URLSearchParams(location.hash.slice(1)).get('token');
    if (given === null) return false;
    history.replaceState(null, '', location.pathname);
    this.signIn(given);
    return true;
  }

  /** Asks other tabs for the token, answers those that ask, and calls `taken` when one was taken from there or from a new address. */
  follow(taken: () => void): void {
    this.#tabs.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      const isAsked = typeof data !== 'string';
      if (isAsked && this.#token !== null) this.#tabs.postMessage(this.#token);
      if (isAsked || this.#token !== null) return;
      this.signIn(data);
      taken();
    });
    if (this.#token === null) this.#tabs.postMessage(null);
    addEventListener('hashchange', () => {
      if (this.takeFromAddress()) taken();
    });
  }

  signIn(token: string): void {
    this.#token = token;
    sessionStorage.setItem(key, token);
  }
}
