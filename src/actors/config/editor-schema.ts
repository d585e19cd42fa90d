import type * as z from 'zod';
import { below, type JsonSchema } from './json-schema.ts';
import { dashboardFile } from './read-dashboard.ts';
import { peopleFile } from './read-people.ts';
import { channelSchemas, configuredAdapters } from './schema-channels.ts';
import { dashboardSchema } from './schema-dashboard.ts';
import { peopleSchema } from './schema-people.ts';
import { serviceSchema } from './service-schema.ts';
import { describeKeys, isStrictSection } from './unknown-keys.ts';

/** A string that contains a variable (docs/contract/configuration.md). `$${` is a literal `${`. */
const withVariable: JsonSchema = {
  type: 'string',
  pattern: String.raw`(?:^|[^$])\$\{[A-Za-z_][A-Za-z0-9_]*\}`,
};

/** Pattern of a non-blank text, which a string with a variable also matches. */
const filledText = String.raw`\S`;

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

/** Rejects unknown keys of every map with named keys. */
function withoutOtherKeys(schema: JsonSchema): JsonSchema {
  const closed = below(schema, withoutOtherKeys);
  return closed.properties ? { ...closed, additionalProperties: false } : closed;
}

/** Allows a variable in every text that has constraints. `isNamed` finds keys whose values are never expanded. */
function withVariables(
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

const switchedOn: JsonSchema = { properties: { enabled: { const: true } }, required: ['enabled'] };

/**
 * Generates the JSON Schema of `service.yaml` for editors (docs/contract/command.md).
 *
 * Accepts everything that the daemon accepts, and rejects invalid single values. Rules that span several keys, and
 * addresses, are left to `validate`. Unknown keys are rejected where the daemon rejects them.
 */
function serviceJsonSchema(): JsonSchema {
  const whole = cleaned(describeKeys(serviceSchema) as JsonSchema);
  const sections: Record<string, JsonSchema> = {};
  for (const [key, section] of Object.entries(whole.properties ?? {})) {
    const closed = isStrictSection(key) ? withoutOtherKeys(section) : section;
    const layered = key === 'security' ? withIdleLayers(closed) : closed;
    const isNamed = key === 'auth' || key === 'audit' ? namesVariable : () => false;
    sections[key] = withVariables(layered, isNamed);
  }
  return { ...whole, properties: sections };
}

/** For a layer that is off, only the types of its settings are checked (docs/contract/step-up.md). */
function withIdleLayers(security: JsonSchema): JsonSchema {
  return below(security, (layer) => {
    if (layer.properties?.['enabled'] === undefined) return layer;
    // oxlint-disable-next-line unicorn/no-thenable -- `then` is a keyword of JSON Schema, and no function.
    return { ...typesOf(layer), if: switchedOn, then: withoutAnnotations(layer) };
  });
}

function typesOf(schema: JsonSchema): JsonSchema {
  const { anyOf: _union, required = [], ...open } = below(schema, typesOf);
  for (const rule of ['pattern', 'minimum', 'exclusiveMinimum', 'maximum', 'minItems'] as const) {
    delete open[rule];
  }
  const kept = required.filter((key) => schema.properties?.[key]?.anyOf === undefined);
  return kept.length > 0 ? { ...open, required: kept } : open;
}

/** An editor would show a description at two places twice. */
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

/** The files that an editor can check, each with the title of its schema. */
const titles: Record<string, string> = {
  'service.yaml': 'agent of Holdpoint',
  [peopleFile]: 'groups, rotations and absences of an agent of Holdpoint',
  [dashboardFile]: "sign-in of a workspace's dashboard of Holdpoint",
  ...Object.fromEntries(
    configuredAdapters.map((adapter) => [
      `${adapter}-config.yaml`,
      `channel ${adapter} of an agent of Holdpoint`,
    ]),
  ),
};

/** The names of the files that have a JSON Schema. */
export const filesWithSchema: readonly string[] = Object.keys(titles);

/** Where the schemas of the newest release are; `package.json` names the repository. */
const home = 'https://raw.githubusercontent.com/holdpoint/holdpoint/main/schema';

/** Returns the name of the schema of a file: `service.schema.json` for `service.yaml`. */
export function schemaName(file: string): string {
  return file.replace(/\.yaml$/, '.schema.json');
}

/** Generates the JSON Schema (draft-07) of a file for editors (docs/contract/command.md). */
export function editorSchema(file: string): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: `${home}/${schemaName(file)}`,
    title: titles[file] ?? file,
    ...keysOf(file),
  };
}

function keysOf(file: string): JsonSchema {
  if (file === 'service.yaml') return withoutDialect(serviceJsonSchema());
  const adapter = configuredAdapters.find((name) => file === `${name}-config.yaml`);
  if (adapter === undefined) {
    return withoutOtherKeys(written(file === peopleFile ? peopleSchema : dashboardSchema));
  }
  const channel = written(channelSchemas[adapter]);
  // An unknown key is an error in the file of Telegram, whose keys name the people who may decide.
  const strict = adapter === 'telegram' ? withoutOtherKeys(channel) : channel;
  return { ...strict, properties: { ...strict.properties, settings: orNull(strict) } };
}

function written(schema: z.ZodType): JsonSchema {
  return withoutDialect(withVariables(cleaned(describeKeys(schema) as JsonSchema)));
}

/** A `settings:` whose keys are all commented out counts as absent. */
function orNull({ properties }: JsonSchema): JsonSchema {
  const { description = '', ...settings } = properties?.['settings'] ?? {};
  return { description, anyOf: [settings, { type: 'null' }] };
}

function withoutDialect({ $schema: _, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
