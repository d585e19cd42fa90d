import type { Path } from './config-problem.ts';

/** A set of paths; the cost of a look-up does not depend on the size of the set. */
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

  /** True if the path is in the set or lies inside a path in it. */
  covers(path: Path): boolean {
    return prefixes(path).some((prefix) => this.#places.has(prefix));
  }

  /** True if the path is in the set, lies inside a path in it, or contains one. */
  touches(path: Path): boolean {
    return this.covers(path) || this.#above.has(JSON.stringify(path));
  }
}

function prefixes(path: Path): string[] {
  return [...path.keys(), path.length].map((length) => JSON.stringify(path.slice(0, length)));
}
