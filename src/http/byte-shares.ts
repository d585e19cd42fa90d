/**
 * Counts the bytes buffered for callers. The total limit is `most` and each caller's limit is `share`, so no caller can
 * exhaust the memory of the others.
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

  /**
   * Returns true if the bytes fit. A caller's first entry may exceed its share, and the first entry of all may exceed
   * any limit.
   */
  hasRoom(caller: { name: string }, bytes: number): boolean {
    if (this.#all === 0) return true;
    if (this.#all + bytes > this.#most) return false;
    // Avoids the look-up of the name while the counts are empty, which is the usual case.
    const kept = this.#byCaller.get(caller.name) ?? 0;
    return kept === 0 || kept + bytes <= this.#share;
  }

  /** Counts bytes for a caller; a negative number subtracts them. */
  add(caller: { name: string }, bytes: number): void {
    if (bytes === 0) return;
    const { name } = caller;
    this.#all += bytes;
    const kept = (this.#byCaller.get(name) ?? 0) + bytes;
    if (kept === 0) this.#byCaller.delete(name);
    else this.#byCaller.set(name, kept);
  }
}
