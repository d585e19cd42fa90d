import type { JsonValue } from '../json.ts';

/** The outcome of a key of a configuration that is moved. */
export interface MovedKey {
  /** Its place in the source, with dots. */
  key: string;
  /** `refused` is a control that cannot be kept. */
  outcome: 'taken' | 'renamed' | 'lost' | 'refused';
  /** Its place here, for `renamed`. */
  to?: string;
  /** What is lost, and what to do instead. */
  why?: string;
}

/** A value to write into the new configuration. */
export interface Placed {
  path: readonly (string | number)[];
  value: JsonValue;
}

/** Puts a value into a tree of maps and lists; a list grows by its next index. */
export function placeAt(tree: JsonValue, { path, value }: Placed): JsonValue {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === 'number') {
    const list = Array.isArray(tree) ? [...tree] : [];
    list[step] = placeAt(list[step] ?? null, { path: rest, value });
    return list;
  }
  const map = typeof tree === 'object' && tree !== null && !Array.isArray(tree) ? tree : {};
  const own = Object.hasOwn(map, step) ? (map[step] ?? null) : null;
  return { ...map, [step]: placeAt(own, { path: rest, value }) };
}

/** Returns whether a value switches nothing on, so that losing its key loses nothing. */
export function isOff(value: JsonValue): boolean {
  if (value === null || value === false || value === '') return true;
  if (typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.length === 0;
  return value['enabled'] === false || Object.keys(value).length === 0;
}
