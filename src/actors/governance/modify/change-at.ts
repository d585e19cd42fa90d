import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import type { ArgumentPath } from './argument-path.ts';

/** Maps the value at a path to its new value; `undefined` means absent. */
export type Change = (value: JsonValue | undefined) => JsonValue | undefined;

/**
 * Changes the value at a path and returns the new object, or the same object if nothing changed. The input is never
 * modified, and only own properties are read or created, even for names such as `__proto__`. Missing parent objects are
 * created if the change yields a value. The index after the last item of a list appends, and a scalar on the path ends
 * the search.
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
  // Plain assignment to `__proto__` would set the prototype.
  else Object.defineProperty(copy, key, { value, ...plainProperty });
  return copy;
}

const plainProperty = { writable: true, enumerable: true, configurable: true };
