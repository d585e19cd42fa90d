/** Lets others wait for something to become true, without sleeping. */
export class Watch {
  #waiters: Array<() => boolean> = [];

  /** Resolves with what `find` finds, now or after a later `look`. */
  until<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const look = (): boolean => {
        const found = find();
        if (found !== undefined) resolve(found);
        return found !== undefined;
      };
      if (!look()) this.#waiters.push(look);
    });
  }

  /** Looks again, because something has changed. */
  look(): void {
    this.#waiters = this.#waiters.filter((look) => !look());
  }

  /** Forgets whoever still waits. */
  end(): void {
    this.#waiters = [];
  }
}
