import { below, type JsonSchema } from './json-schema.ts';

/** A text that contains a variable (docs/contract/configuration.md). `$${` is a literal `${`. */
const withVariable: JsonSchema = {
  type: 'string',
  pattern: String.raw`(?:^|[^$])\$\{[A-Za-z_][A-Za-z0-9_]*\}`,
};

/** Pattern of a non-blank text, which a text with a variable also matches. */
const filledText = String.raw`\S`;

/** Removes keywords without effect, and constraints that the daemon checks differently. */
export function cleaned(schema: JsonSchema): JsonSchema {
  const { format: _format, oneOf, example, ...rest } = below(schema, cleaned);
  const required = Object.keys(schema.properties ?? {}).filter((key) => isRequired(schema, key));
  if (required.length > 0) rest.required = required;
  if (JSON.stringify(rest.default) === '{}') delete rest.default;
  if (rest.maximum === Number.MAX_SAFE_INTEGER) delete rest.maximum;
  if (example !== undefined) rest.examples = [example];
  // With a variable in place of its type, an entry may match several alternatives.
  return oneOf ? { ...rest, anyOf: oneOf } : rest;
}

/** An omitted map counts as empty, so its required keys may be missing. */
function isRequired({ properties, required = [] }: JsonSchema, key: string): boolean {
  const { default: usual, required: inner = [] } = properties?.[key] ?? {};
  return required.includes(key) || (JSON.stringify(usual) === '{}' && inner.length > 0);
}

/** Rejects unknown keys of every map with named keys. */
export function withoutOtherKeys(schema: JsonSchema): JsonSchema {
  const closed = below(schema, withoutOtherKeys);
  return closed.properties ? { ...closed, additionalProperties: false } : closed;
}

/** Allows a variable in every text that has constraints. `isNamed` finds keys whose values are never expanded. */
export function withVariables(
  schema: JsonSchema,
  isNamed: (key: string) => boolean = () => false,
): JsonSchema {
  const result = below(schema, (child, key = '') =>
    isNamed(key) ? child : withVariables(child, isNamed),
  );
  if (result.type !== 'string' || !isRuled(result)) return result;
  const { description, default: usual, examples, ...rule } = result;
  return {
    ...(description === undefined ? {} : { description }),
    ...(usual === undefined ? {} : { default: usual }),
    ...(examples === undefined ? {} : { examples }),
    anyOf: [rule, withVariable],
  };
}

function isRuled({ pattern, enum: choices, const: only, maxLength }: JsonSchema): boolean {
  if (choices !== undefined || only !== undefined || maxLength !== undefined) return true;
  return pattern !== undefined && pattern !== filledText;
}
