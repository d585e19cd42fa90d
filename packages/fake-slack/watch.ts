/** Waits for conditions without polling. */
export class Watch {
  #waiters: Array<() => boolean> = [];

  /** Resolves with the result of `find`, now or after a later `look`. Rejects with the signal's reason. */
  async until<T>(find: () => T | undefined, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const found = find();
    if (found !== undefined) return found;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const waiter = (): boolean => {
      const later = find();
      if (later !== undefined) resolve(later);
      return later !== undefined;
    };
    const leave = (): void => reject(signal?.reason);
    this.#waiters.push(waiter);
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', leave);
      this.#waiters = this.#waiters.filter((each) => each !== waiter);
    }
  }

  /** Re-evaluates all waiting conditions after a change. */
  look(): void {
    this.#waiters = this.#waiters.filter((waiter) => !waiter());
  }

  /** Drops all waiters; their promises stay pending. */
  end(): void {
    this.#waiters = [];
  }
}
