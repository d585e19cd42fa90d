interface Waiting {
  key: string;
  begin: () => void;
}

/** Lets a bounded number of calls run at once, and of those with the same key one; first come, first served. */
export class Places {
  readonly #most: number;
  readonly #taken = new Set<string>();
  #waiting: Waiting[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Runs something once there is a place for it. Rejects with the signal's reason when that comes first. */
  async run<Result>(
    key: string,
    signal: AbortSignal,
    call: () => Promise<Result>,
  ): Promise<Result> {
    await this.#take(key, signal);
    try {
      return await call();
    } finally {
      this.#taken.delete(key);
      this.#letIn();
    }
  }

  #take(key: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(signal.reason);
      };
      const begin = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const waiting = { key, begin };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
      this.#letIn();
    });
  }

  #letIn(): void {
    const next = this.#waiting.find(({ key }) => !this.#taken.has(key));
    if (next === undefined || this.#taken.size >= this.#most) return;
    this.#waiting = this.#waiting.filter((other) => other !== next);
    this.#taken.add(next.key);
    next.begin();
    this.#letIn();
  }
}
