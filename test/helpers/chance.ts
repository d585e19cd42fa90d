/** Numbers that look like chance and that a seed gives again (Mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns the next number, from 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    const { imul } = Math;
    let mixed = imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Returns a whole number from 0 up to a limit. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Returns one of some things; throws when there is none. */
  pick<Thing>(things: readonly Thing[]): Thing {
    if (things.length === 0) throw new RangeError('there is nothing to pick from');
    return things[this.below(things.length)] as Thing;
  }

  /** Returns one of the names, by its weight among the others. */
  weighed<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const names = Object.keys(weights) as Name[];
    let left = this.next() * names.reduce((sum, name) => sum + weights[name], 0);
    const found = names.find((name) => (left -= weights[name]) < 0);
    return found ?? (names.at(-1) as Name);
  }
}
