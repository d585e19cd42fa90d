/** The label of every name beyond the limit. */
export const otherName = 'other';

/** Maximum number of characters of a label. */
const longest = 128;

/**
 * Limits the distinct names that become a label, because each one is a series of its own for as long as the daemon
 * runs: the first names keep their own series, and all later ones are `other`.
 */
export class BoundedNames {
  readonly #names = new Set<string>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns the label of a name. */
  of(name: string): string {
    return this.has(name) ? name : otherName;
  }

  /** Returns whether a name has a series of its own. */
  has(name: string): boolean {
    if (this.#names.has(name)) return true;
    if (this.#names.size >= this.#most || name.length > longest) return false;
    this.#names.add(name);
    return true;
  }
}
