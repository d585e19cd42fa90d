/**
 * Counts the bytes kept for callers. All together may have `most`, and one caller `share` of them, so that no caller
 * exhausts the memory of the others.
 */
export class ByteShares {
  readonly #most: number;
  readonly #share: number;
  readonly #byCaller = new Map<string, number>();
  #all = 0;

  constructor({ most, share }: { most: number; share: number }) {
    this.#most = most;
    this.#share = share;
  }

  /** Tells whether the bytes fit; the first entry of a caller may exceed its share, and the first of all any limit. */
  hasRoom(caller: { name: string }, bytes: number): boolean {
    if (this.#all === 0) return true;
    if (this.#all + bytes > this.#most) return false;
    // Nobody is named while nothing is kept, which is nearly always.
    const kept = this.#byCaller.get(caller.name) ?? 0;
    return kept === 0 || kept + bytes <= this.#share;
  }

  /** Counts bytes for a caller; a negative number counts them off again. */
  add(caller: { name: string }, bytes: number): void {
    if (bytes === 0) return;
    const { name } = caller;
    this.#all += bytes;
    const kept = (this.#byCaller.get(name) ?? 0) + bytes;
    if (kept === 0) this.#byCaller.delete(name);
    else this.#byCaller.set(name, kept);
  }
}
