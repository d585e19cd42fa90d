import type { Clock } from '../actors/ports/clock.ts';

/** Checks per interval; no beat is later than 1/25 of the interval. */
const looks = 25;

/**
 * Maximum number of beats per turn of the event loop, a few milliseconds of work. Other events run before the next
 * batch.
 */
const atOnce = 200;

interface Heart {
  beat: () => void;
  dueAt: number;
}

/** Calls many callbacks at the same interval with a single timer. */
export class Heartbeats {
  /** Interval in milliseconds. */
  readonly every: number;
  readonly #clock: Clock;
  readonly #hearts = new Set<Heart>();
  #timer: unknown = null;

  constructor(clock: Clock, every: number) {
    this.#clock = clock;
    this.every = every;
  }

  /**
   * Calls `beat` after `first` milliseconds and then once per interval. Returns a function that stops the beat and
   * returns the remaining milliseconds. `beat` must not throw.
   */
  start(beat: () => void, first: number = this.every): () => number {
    const heart = { beat, dueAt: this.#clock.now() + first };
    this.#hearts.add(heart);
    this.#watch();
    return () => {
      this.#hearts.delete(heart);
      if (this.#hearts.size === 0) this.#rest();
      return Math.max(0, heart.dueAt - this.#clock.now());
    };
  }

  #watch(wait = Math.ceil(this.every / looks)): void {
    this.#timer ??= this.#clock.setTimeout(() => this.#sweep(), wait);
  }

  #rest(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = null;
  }

  #sweep(): void {
    this.#timer = null;
    const now = this.#clock.now();
    let left = atOnce;
    for (const heart of this.#hearts) {
      if (heart.dueAt > now) continue;
      if (left === 0) return this.#watch(0);
      left -= 1;
      heart.dueAt = now + this.every;
      heart.beat();
    }
    if (this.#hearts.size > 0) this.#watch();
  }
}
