import { serviceSchema } from './service-schema.ts';
import { describeKeys, isStrictSection } from './unknown-keys.ts';

/** JSON Schema draft 2020-12, limited to the keywords used here. */
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
  not?: JsonSchema;
}

/** A text that contains a variable (docs/contract/configuration.md). */
const withVariable: JsonSchema = { type: 'string', pattern: String.raw`\$\{` };

const switchedOn: JsonSchema = { properties: { enabled: { const: true } }, required: ['enabled'] };

/** Pattern of a non-blank text, which a text with a variable also matches. */
const filledText = String.raw`\S`;

/**
 * Generates the JSON Schema (draft 2020-12) of `service.yaml` for editors (docs/contract/command.md).
 *
 * Accepts everything that the daemon accepts, and rejects invalid single values. Rules that span several keys, and
 * addresses, are left to `validate`. Unknown keys are rejected where the daemon rejects them.
 */
export function serviceJsonSchema(): JsonSchema {
  const whole = cleaned(describeKeys(serviceSchema) as JsonSchema);
  const sections: Record<string, JsonSchema> = {};
  for (const [key, section] of Object.entries(whole.properties ?? {})) {
    const closed = isStrictSection(key) ? withoutOtherKeys(section) : section;
    const layered = key === 'security' ? withIdleLayers(closed) : closed;
    const isNamed = key === 'auth' || key === 'audit' ? namesVariable : () => false;
    sections[key] = withVariables(layered, isNamed);
  }
  const { $schema, ...rest } = whole;
  const named = { $id: 'urn:holdpoint:service.yaml', title: 'Holdpoint service.yaml' };
  return { ...($schema === undefined ? {} : { $schema }), ...named, ...rest, properties: sections };
}

/** Applies a function to the direct subschemas. */
function below(
  schema: JsonSchema,
  change: (child: JsonSchema, key?: string) => JsonSchema,
): JsonSchema {
  const result = { ...schema };
  const { properties, items, additionalProperties, anyOf, oneOf } = schema;
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
  return result;
}

/** Removes keywords without effect, and constraints that the daemon checks differently. */
function cleaned(schema: JsonSchema): JsonSchema {
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

function withoutOtherKeys(schema: JsonSchema): JsonSchema {
  const closed = below(schema, withoutOtherKeys);
  return closed.properties ? { ...closed, additionalProperties: false } : closed;
}

/** For a layer that is off, only the types of its settings are checked (docs/contract/step-up.md). */
function withIdleLayers(security: JsonSchema): JsonSchema {
  return below(security, (layer) => ({
    ...typesOf(layer),
    anyOf: [{ not: switchedOn }, withoutAnnotations(layer)],
  }));
}

function typesOf(schema: JsonSchema): JsonSchema {
  const { anyOf: _union, required = [], ...open } = below(schema, typesOf);
  for (const rule of ['pattern', 'minimum', 'exclusiveMinimum', 'maximum', 'minItems'] as const) {
    delete open[rule];
  }
  const kept = required.filter((key) => schema.properties?.[key]?.anyOf === undefined);
  return kept.length > 0 ? { ...open, required: kept } : open;
}

function withoutAnnotations(schema: JsonSchema): JsonSchema {
  const {
    description: _description,
    default: _default,
    examples: _examples,
    ...rules
  } = below(schema, withoutAnnotations);
  return rules;
}

/** The value of such a key is the name of a variable and is never expanded. */
function namesVariable(key: string): boolean {
  return key === 'token_env' || key === 'key_env';
}

/** Allows a variable in every text that has constraints. */
function withVariables(schema: JsonSchema, isNamed: (key: string) => boolean): JsonSchema {
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
