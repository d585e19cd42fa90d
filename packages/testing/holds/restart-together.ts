import type { HoldsAdapter } from './adapter.ts';
import type { Around } from './holds-under-test.ts';

/** A check among those that share a restart. */
export interface Member {
  /** Resolves after the restart, which happens once every member waits for it or has left. */
  restart: (around?: Around) => Promise<void>;
  /** Leaves the group; the others no longer wait for this check. */
  leave: () => void;
}

/** One restart of an implementation for a number of checks, since a restart takes as long as all of the rest. */
export class RestartTogether {
  readonly #adapter: HoldsAdapter;
  readonly #end: 'stop' | 'kill';
  readonly #arrived: Around[] = [];
  readonly #isUp = Promise.withResolvers<void>();
  /** Checks that have neither arrived nor left. */
  #awaited: number;

  constructor(adapter: HoldsAdapter, end: 'stop' | 'kill', members: number) {
    this.#adapter = adapter;
    this.#end = end;
    this.#awaited = members;
    // A restart may fail after every member has left.
    this.#isUp.promise.catch(() => undefined);
  }

  member(): Member {
    let isAwaited = true;
    const settle = () => {
      if (!isAwaited) return;
      isAwaited = false;
      this.#awaited -= 1;
      if (this.#awaited === 0) this.#isUp.resolve(this.#restart());
    };
    return {
      restart: async (around = {}) => {
        // The requests before the restart of one check are its own failures.
        const answered = Promise.withResolvers<void>();
        this.#arrived.push({
          ...around,
          before: async () => {
            try {
              await around.before?.();
              answered.resolve();
            } catch (error) {
              answered.reject(error);
            }
          },
        });
        answered.promise.catch(() => undefined);
        settle();
        await this.#isUp.promise;
        await answered.promise;
      },
      leave: settle,
    };
  }

  async #restart(): Promise<void> {
    if (this.#arrived.length === 0) return;
    await Promise.all(this.#arrived.map(async ({ before }) => before?.()));
    for (const { during } of this.#arrived) during?.().catch(() => undefined);
    await this.#adapter[this.#end]?.();
    await Promise.all(this.#arrived.map(async ({ down }) => down?.()));
    await this.#adapter.start?.();
  }
}
