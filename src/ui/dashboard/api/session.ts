const key = 'holdpoint.token';

/**
 * Stores the dashboard's token for this tab and shares it with other tabs of the same browser on request, for example a
 * tab opened from a link in a chat. A token in the URL is removed immediately, so that it stays neither in the history
 * nor in a copied URL.
 */
export class Session {
  readonly #tabs = new BroadcastChannel(key);
  #token: string | null = sessionStorage.getItem(key);

  get token(): string | null {
    return this.#token;
  }

  /** Reads and removes `#token=…` from the page's URL; returns true if there was one. */
  takeFromAddress(): boolean {
    const given = new URLSearchParams(location.hash.slice(1)).get('token');
    if (given === null) return false;
    history.replaceState(null, '', location.pathname);
    this.signIn(given);
    return true;
  }

  /**
   * Requests the token from other tabs, answers their requests, and calls `taken` when a token was received from a tab
   * or a new URL.
   */
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
