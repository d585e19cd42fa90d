import type { JsonObject, JsonValue } from '../../machines/json.ts';
import type { Path } from './config-problem.ts';
import { PathSet } from './path-set.ts';

/** A document without its invalid values, so the rest can still be checked. */
export class PartialConfig {
  readonly rest: JsonObject;
  /** Removed paths, relative to the whole document. */
  readonly dropped: Path[] = [];
  /** Original indexes of the remaining elements of each list that lost elements. */
  readonly #origins = new Map<string, number[]>();

  constructor(value: JsonObject) {
    this.rest = structuredClone(value);
  }

  /** Removes the values at these paths of `rest`; an object that lacks a required value is removed whole. */
  drop(paths: readonly Path[]): void {
    const gone = new PathSet();
    const lists = new Map<string, (JsonValue | undefined)[]>();
    for (const path of paths) {
      const place = gone.covers(path) ? [] : droppable(this.rest, path);
      const key = place.at(-1);
      const parent = valueAt(this.rest, place.slice(0, -1));
      if (key === undefined || parent === undefined) continue;
      gone.add(place);
      const original = this.original(place);
      this.dropped.push(original);
      if (Array.isArray(parent)) {
        const list: (JsonValue | undefined)[] = parent;
        list[Number(key)] = undefined;
        lists.set(JSON.stringify(original.slice(0, -1)), list);
      } else delete (parent as JsonObject)[key];
    }
    for (const [key, list] of lists) this.#closeGaps(key, list);
  }

  /** Maps a path in `rest` to its path in the whole document. */
  original(path: Path): Path {
    const result: (string | number)[] = [];
    for (const key of path) {
      const origins = this.#origins.get(JSON.stringify(result));
      result.push(origins?.[Number(key)] ?? key);
    }
    return result;
  }

  #closeGaps(key: string, list: (JsonValue | undefined)[]): void {
    const origins = this.#origins.get(key) ?? [...list.keys()];
    const kept = [...list.entries()].filter(([, value]) => value !== undefined);
    this.#origins.set(
      key,
      kept.map(([index]) => origins[index] ?? index),
    );
    list.length = 0;
    for (const [, value] of kept) list.push(value);
  }
}

/** Returns the removable path: that of the value, or of the nearest enclosing value; `[]` for none. */
function droppable(value: JsonObject, path: Path): Path {
  for (let length = path.length; length > 0; length -= 1) {
    const place = path.slice(0, length);
    if (valueAt(value, place) !== undefined) return place;
  }
  return [];
}

/** Returns the value at a path; `undefined` if there is none. */
export function valueAt(value: JsonValue, path: Path): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = Object.hasOwn(current, key) ? (current as JsonObject)[key] : undefined;
  }
  return current;
}
