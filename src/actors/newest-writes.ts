import type { Clock } from './ports/clock.ts';
import { rest } from './rest.ts';

/** The pending and running write of a key. */
interface Writing {
  /** The latest write, until it starts. */
  newest: KeptWrite | null;
  /** False if the running write must not be retried. */
  isWanted: boolean;
  /** Resolves when the running write has succeeded or failed. */
  underway: Promise<void>;
  over: Promise<void>;
}

interface KeptWrite {
  write: () => Promise<void>;
  onFailed: (error: unknown) => void;
}

/** Pause before a failed write is retried, in milliseconds. */
const pause = 5_000;

/** Time limit for the last writes at shutdown, in milliseconds. */
const patience = 5_000;

/**
 * Saves the latest value of each key, one write at a time, so an older value never overwrites a newer one. A failed
 * write is retried after a pause, unless a newer one has replaced it.
 */
export class NewestWrites {
  readonly #clock: Clock;
  readonly #things = new Map<string, Writing>();
  readonly #stopped = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Queues a write; it starts at once if no write of its key is running. `onFailed` receives the error of each failed
   * attempt.
   */
  keep(thing: string, write: () => Promise<void>, onFailed: (error: unknown) => void): void {
    const newest = { write, onFailed };
    const known = this.#things.get(thing);
    if (known !== undefined) {
      known.newest = newest;
      return;
    }
    const resolved = Promise.resolve();
    const writing: Writing = { newest, isWanted: true, underway: resolved, over: resolved };
    this.#things.set(thing, writing);
    writing.over = this.#write(thing, writing);
  }

  /** Drops the pending write of a key, and does not retry the running one. */
  forget(thing: string): void {
    const known = this.#things.get(thing);
    if (known === undefined) return;
    known.newest = null;
    known.isWanted = false;
  }

  /** Resolves when the running write of a key has succeeded or failed. Never rejects. */
  async answered(thing: string): Promise<void> {
    await this.#things.get(thing)?.underway;
  }

  /** Retries failed writes a last time, and resolves when no write is running, or after five seconds. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    const { promise: isLate, resolve } = Promise.withResolvers<void>();
    const timer = this.#clock.setTimeout(resolve, patience);
    const over = Promise.all([...this.#things.values()].map((writing) => writing.over));
    await Promise.race([over, isLate]);
    this.#clock.clearTimeout(timer);
  }

  async #write(thing: string, writing: Writing): Promise<void> {
    const { signal } = this.#stopped;
    for (let kept = writing.newest; kept !== null; kept = writing.newest) {
      const isLast = signal.aborted;
      writing.newest = null;
      writing.isWanted = true;
      const trying = tried(kept);
      writing.underway = trying.then(() => undefined);
      if ((await trying) || isLast || !writing.isWanted) continue;
      writing.newest ??= kept;
      await rest(pause, this.#clock, signal);
    }
    this.#things.delete(thing);
  }
}

/** Resolves with whether the write succeeded. */
async function tried({ write, onFailed }: KeptWrite): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    onFailed(error);
    return false;
  }
}
