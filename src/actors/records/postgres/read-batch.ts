/** Most keys of one statement. */
const most = 500;

/**
 * Reads that one turn of the event loop requests, combined into one statement: after a commit, each of its tasks needs
 * the same read.
 */
export class ReadBatch<Value> {
  readonly #read: (keys: string[]) => Promise<ReadonlyMap<string, Value>>;
  #requested = new Map<string, PromiseWithResolvers<Value | undefined>>();

  /** @param read returns the values that it finds, by key */
  constructor(read: (keys: string[]) => Promise<ReadonlyMap<string, Value>>) {
    this.#read = read;
  }

  /** Returns the value of a key; `undefined` if there is none. Rejects like the statement. */
  get(key: string): Promise<Value | undefined> {
    // PostgreSQL stores no NUL, and refuses a statement with one.
    if (key.includes('\0')) return Promise.resolve(undefined);
    const requested = this.#requested.get(key) ?? Promise.withResolvers<Value | undefined>();
    if (this.#requested.size === 0) setImmediate(() => this.#send());
    this.#requested.set(key, requested);
    return requested.promise;
  }

  #send(): void {
    const requested = [...this.#requested];
    this.#requested = new Map();
    for (let from = 0; from < requested.length; from += most) {
      void this.#answer(requested.slice(from, from + most));
    }
  }

  async #answer(
    requested: readonly [string, PromiseWithResolvers<Value | undefined>][],
  ): Promise<void> {
    try {
      const found = await this.#read(requested.map(([key]) => key));
      for (const [key, { resolve }] of requested) resolve(found.get(key));
    } catch (error) {
      for (const [, { reject }] of requested) reject(error);
    }
  }
}
