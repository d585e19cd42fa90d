const key = 'holdpoint.token';

/**
 * Keeps the token of the dashboard for this tab alone. A token that came in the address is taken out of it at once, so
 * that it stays neither in the history nor in what is copied.
 */
export class Session {
  #token: string | null = sessionStorage.getItem(key);

  get token(): string | null {
    return this.#token;
  }

  /** Takes `#token=…` from the address of the page. */
  takeFromAddress(): void {
    const given = new URLSearchParams(location.hash.slice(1)).get('token');
    if (given === null) return;
    history.replaceState(null, '', location.pathname);
    this.signIn(given);
  }

  signIn(token: string): void {
    this.#token = token;
    sessionStorage.setItem(key, token);
  }
}
