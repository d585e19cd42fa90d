import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

/** Returns the value at a path of names and indexes in a call's arguments; `undefined` if there is none. */
export function argumentAt(args: JsonObject, path: readonly string[]): JsonValue | undefined {
  let found: JsonValue | undefined = args;
  for (const name of path) found = memberOf(found, name);
  return found;
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^\d+$/.test(name) ? value[Number(name)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
