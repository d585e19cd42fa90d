import type { Clock } from '../actors/ports.ts';

/** Checks per interval, so that no beat is later than a 25th of it. */
const looks = 25;

/** Beats of one turn of the event loop, some milliseconds of work; other events run before the next ones. */
const atOnce = 200;

interface Heart {
  beat: () => void;
  dueAt: number;
}

/** Does something for each of many at the same interval, by one timer for all of them. */
export class Heartbeats {
  /** Milliseconds. */
  readonly every: number;
  readonly #clock: Clock;
  readonly #hearts = new Set<Heart>();
  #timer: unknown = null;

  constructor(clock: Clock, every: number) {
    this.#clock = clock;
    this.every = every;
  }

  /**
   * Runs `beat` after `first` milliseconds, and again after each interval. Returns a function that stops it and returns
   * the milliseconds left. `beat` must not throw.
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
