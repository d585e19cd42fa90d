import type { Path } from './config-problem.ts';

/** Places of a document, asked about in time that does not grow with their number. */
export class PathSet {
  readonly #places = new Set<string>();
  readonly #above = new Set<string>();

  constructor(paths: Iterable<Path> = []) {
    for (const path of paths) this.add(path);
  }

  add(path: Path): void {
    this.#places.add(JSON.stringify(path));
    for (const prefix of prefixes(path)) this.#above.add(prefix);
  }

  /** True when the place is one of these or lies inside one. */
  covers(path: Path): boolean {
    return prefixes(path).some((prefix) => this.#places.has(prefix));
  }

  /** True when the place is one of these, lies inside one, or holds one. */
  touches(path: Path): boolean {
    return this.covers(path) || this.#above.has(JSON.stringify(path));
  }
}

function prefixes(path: Path): string[] {
  return [...path.keys(), path.length].map((length) => JSON.stringify(path.slice(0, length)));
}
