/** Any value that JSON can carry. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** A JSON object: the shape of tool arguments, data parts and audit fields. */
export interface JsonObject {
  [key: string]: JsonValue;
}
