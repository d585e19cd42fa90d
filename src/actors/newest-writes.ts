import type { Clock } from './ports.ts';
import { rest } from './rest.ts';

/** What is to be written of one thing. */
interface Writing {
  /** What is newest, until it is being written. */
  newest: KeptWrite | null;
  /** False when the write under way is not to be tried again. */
  isWanted: boolean;
  /** Resolves when the write under way has an answer. */
  underway: Promise<void>;
  over: Promise<void>;
}

interface KeptWrite {
  write: () => Promise<void>;
  onFailed: (error: unknown) => void;
}

/** Pause before a write that failed is tried again, in milliseconds. */
const pause = 5_000;

/** How long the last writes may take when it stops, in milliseconds. */
const patience = 5_000;

/**
 * Writes what is newest of each thing, one write of it at a time, so that nothing older is ever written over something
 * newer. A write that fails is tried again after a pause, unless a newer one has its place by then.
 */
export class NewestWrites {
  readonly #clock: Clock;
  readonly #things = new Map<string, Writing>();
  readonly #stopped = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Has something written, at once when nothing of its thing is under way; `onFailed` hears of each try that fails. */
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

  /** Leaves out what waits to be written of a thing, and has the write under way not tried again. */
  forget(thing: string): void {
    const known = this.#things.get(thing);
    if (known === undefined) return;
    known.newest = null;
    known.isWanted = false;
  }

  /** Resolves when the write of a thing that is under way has an answer, whichever. Never rejects. */
  async answered(thing: string): Promise<void> {
    await this.#things.get(thing)?.underway;
  }

  /** Tries what failed for a last time, and resolves when nothing is under way, after five seconds at the latest. */
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

/** Resolves with whether it was written. */
async function tried({ write, onFailed }: KeptWrite): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    onFailed(error);
    return false;
  }
}
