/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** A JSON object, used for tool arguments, data parts and audit fields. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Returns true if a value is a JSON object, neither an array nor `null`. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a JSON text; `undefined` for invalid JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Returns true if all names and texts of a JSON value consist of whole Unicode characters. */
export function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, each]) => name.isWellFormed() && isWellFormed(each));
}
