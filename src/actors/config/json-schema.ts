/** JSON Schema draft-07, limited to the keywords used here. */
export interface JsonSchema {
  $schema?: string;
  $id?: string;
  title?: string;
  type?: string | string[];
  description?: string;
  default?: unknown;
  examples?: unknown[];
  /** One valid value; printed as `examples`. */
  example?: unknown;
  enum?: unknown[];
  const?: unknown;
  pattern?: string;
  format?: string;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minItems?: number;
  maxLength?: number;
  required?: string[];
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  if?: JsonSchema;
  then?: JsonSchema;
}

/** Applies a function to the direct subschemas of values. */
export function below(
  schema: JsonSchema,
  change: (child: JsonSchema, key?: string) => JsonSchema,
): JsonSchema {
  const result = { ...schema };
  const { properties, items, additionalProperties, anyOf, oneOf, then } = schema;
  if (properties) result.properties = {};
  for (const [key, child] of Object.entries(properties ?? {})) {
    Object.assign(result.properties ?? {}, { [key]: change(child, key) });
  }
  if (items) result.items = change(items);
  if (typeof additionalProperties === 'object') {
    result.additionalProperties = change(additionalProperties);
  }
  if (anyOf) result.anyOf = anyOf.map((child) => change(child));
  if (oneOf) result.oneOf = oneOf.map((child) => change(child));
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is a keyword of JSON Schema, and no function.
  if (then) result.then = change(then);
  return result;
}
