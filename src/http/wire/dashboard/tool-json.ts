/** A builtin tool: an element of `GET /api/tools`, which sorts them by name. */
export interface BuiltinToolJson {
  name: string;
  description: string;
  /** JSON Schema of its arguments. */
  input_schema: object;
  /** Whether a call may change something, so that a person may want to be asked first. */
  changes: boolean;
}
