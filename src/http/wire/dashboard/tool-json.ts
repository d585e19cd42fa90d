/** A builtin tool: an element of `GET /api/tools`, sorted by name. */
export interface BuiltinToolJson {
  name: string;
  description: string;
  /** JSON Schema of its arguments. */
  input_schema: object;
  /** True if a call may change something, so an operator may want to hold the tool. */
  changes: boolean;
}
