/** Any value that JSON can carry. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** A JSON object: the shape of tool arguments, data parts and audit fields. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Returns whether a value is a JSON object: neither a list nor `null`. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
