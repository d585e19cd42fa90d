import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import type { ArgumentPath } from './argument-path.ts';

/** What becomes of the value at a place; `undefined` stands for no value, before or after. */
export type Change = (value: JsonValue | undefined) => JsonValue | undefined;

/**
 * Changes the value at one place and returns the object with it; the object itself when nothing
 * changed. What is given is never written to, and only own properties are read or made, also under
 * names such as `__proto__`. Missing objects on the way are made when the change yields a value; the
 * place after the last item of a list is its end, and a scalar on the way ends the search.
 */
export function changeAt(object: JsonObject, path: ArgumentPath, change: Change): JsonObject {
  const [key, ...rest] = path;
  const before = Object.hasOwn(object, key) ? object[key] : undefined;
  const after = changeBelow(before, rest, change);
  return after === before ? object : withProperty(object, key, after);
}

function changeBelow(
  value: JsonValue | undefined,
  path: readonly string[],
  change: Change,
): JsonValue | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return change(value);
  if (Array.isArray(value))
    return changeItem(value, key, (item) => changeBelow(item, rest, change));
  if (isJsonObject(value)) return changeAt(value, [key, ...rest], change);
  if (value !== undefined) return value;
  const made = changeBelow(undefined, rest, change);
  return made === undefined ? undefined : withProperty({}, key, made);
}

function changeItem(list: JsonValue[], key: string, change: Change): JsonValue[] {
  const index = /^(?:0|[1-9]\d*)$/.test(key) ? Number(key) : Number.POSITIVE_INFINITY;
  if (index > list.length) return list;
  const before = list[index];
  const after = change(before);
  if (after === before) return list;
  return list.toSpliced(index, 1, ...(after === undefined ? [] : [after]));
}

function withProperty(object: JsonObject, key: string, value: JsonValue | undefined): JsonObject {
  const copy = { ...object };
  if (value === undefined) delete copy[key];
  // An assignment to `__proto__` would set the prototype.
  else Object.defineProperty(copy, key, { value, ...plainProperty });
  return copy;
}

const plainProperty = { writable: true, enumerable: true, configurable: true };
