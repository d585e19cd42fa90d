import { stringify } from 'yaml';
import type { JsonSchema } from '../../src/actors/config/json-schema.ts';
import { channelSchemas, configuredAdapters } from '../../src/actors/config/schema-channels.ts';
import { dashboardSchema } from '../../src/actors/config/schema-dashboard.ts';
import { durationPattern } from '../../src/actors/config/schema-value.ts';
import { serviceSchema } from '../../src/actors/config/service-schema.ts';
import { describeKeys } from '../../src/actors/config/unknown-keys.ts';
import { frontmatterSchema } from '../../src/actors/tools/skills/frontmatter-schema.ts';
import { exampleOf, isContainer, type Key, keysOf, optionsOf, pathText } from './keys.ts';
import { beginning, seeAlso, skillNote } from './prose.ts';

/** Every key of each file that is described, in the order of its schema. */
export function describedFiles(): Record<string, JsonSchema> {
  return {
    'service.yaml': describeKeys(serviceSchema) as JsonSchema,
    ...Object.fromEntries(
      configuredAdapters.map((adapter) => [
        `${adapter}-config.yaml`,
        describeKeys(channelSchemas[adapter]) as JsonSchema,
      ]),
    ),
    'dashboard.yaml': describeKeys(dashboardSchema) as JsonSchema,
    'SKILL.md': describeKeys(frontmatterSchema) as JsonSchema,
  };
}

/** Writes the reference of every key. Throws when one has no description or no example. */
export function configurationPage(): string {
  const { 'service.yaml': service = {}, ...others } = describedFiles();
  const sections = Object.entries(service.properties ?? {});
  const top = sections.filter(([, section]) => section.type !== 'object');
  const rest = sections.filter(([, section]) => section.type === 'object');
  const isTop = ({ path: [name = ''] }: Key) => top.some(([key]) => key === name);
  const keys = keysOf(service);
  return `${[
    beginning,
    '## The agent',
    table(keys.filter(isTop)),
    ...rest.flatMap(([name, section]) => chapter(name, section)),
    ...Object.entries(others).flatMap(([file, schema]) => [
      `## ${file}`,
      ...(file === 'SKILL.md' ? [skillNote] : []),
      table(keysOf(schema).filter(({ path }) => path[1] !== 'forge')),
    ]),
  ].join('\n\n')}\n`;
}

/** One section of `service.yaml`, with a table for each layer of `security` and each type of provider. */
function chapter(name: string, section: JsonSchema): string[] {
  const keys = keysOf(section, [name]);
  const parts = partsOf(name, section);
  const isInPart = ({ schema }: Key) => parts.some((part) => part.schemas.has(schema));
  return [
    `## ${name}`,
    [describe({ path: [name], schema: section, isRequired: false }), seeAlso[name]]
      .filter((text) => text !== undefined)
      .join(' '),
    table(keys.filter((key) => !isInPart(key))),
    ...parts.flatMap(({ title, about, rows }) => [`### ${title}`, about, table(rows)]),
  ].filter((text) => text !== '');
}

interface Part {
  title: string;
  about: string;
  rows: Key[];
  schemas: Set<JsonSchema>;
}

function partsOf(name: string, section: JsonSchema): Part[] {
  if (name === 'security') {
    return Object.entries(section.properties ?? {}).map(([layer, schema]) => {
      const path = [name, layer];
      return part(pathText(path), schema.description ?? '', schema, path);
    });
  }
  if (name !== 'auth') return [];
  const path = [name, 'providers', '[]'];
  return optionsOf(section.properties?.['providers']?.items ?? {}).map((option) => {
    const { const: type, description = '' } = option.properties?.['type'] ?? {};
    return part(`auth.providers[] of type ${String(type)}`, description, option, path);
  });
}

function part(title: string, about: string, schema: JsonSchema, path: readonly string[]): Part {
  const rows = keysOf(schema, path);
  return { title, about, rows, schemas: new Set([schema, ...rows.map((row) => row.schema)]) };
}

function table(keys: readonly Key[]): string {
  if (keys.length === 0) return '';
  const heads = ['Key', 'Value', 'Default', 'What it does', 'Example'];
  return [row(heads), row(heads.map(() => '---')), ...keys.map(keyRow)].join('\n');
}

function keyRow(key: Key): string {
  const { schema, path, isRequired } = key;
  const example = exampleOf(key);
  const shown = example === undefined ? '' : code(flow({ [path.at(-1) ?? '']: example }, false));
  return row([
    code(pathText(path)),
    valueText(schema),
    usual(key, isRequired),
    describe(key),
    shown,
  ]);
}

function describe({ schema, path }: Key): string {
  const { description = '' } = schema;
  if (/[^.]\.$/.test(description)) return description;
  throw new Error(
    `${pathText(path)} has no description that is a sentence; write one into its schema`,
  );
}

function usual(key: Key, isRequired: boolean): string {
  const { default: value } = key.schema;
  if (isRequired) return 'required';
  if (value === undefined || JSON.stringify(value) === '{}')
    return isContainer(key) && key.schema.type === 'object' ? '' : 'none';
  return code(flow(value));
}

/** Says what may be written at a place. */
function valueText(schema: JsonSchema): string {
  const { type, enum: choices, const: only, pattern, items } = schema;
  const options = optionsOf(schema);
  if (options.length > 0) return [...new Set(options.map(valueText))].join(' or ');
  if (choices) return choices.map((choice) => code(String(choice))).join(', ');
  if (only !== undefined) return code(flow(only));
  if (pattern === durationPattern) return 'duration';
  switch (Array.isArray(type) ? type.find((one) => one !== 'null') : type) {
    case 'string':
      return schema.maxLength === undefined
        ? 'text'
        : `text, at most ${schema.maxLength} characters`;
    case 'boolean':
      return '`true`, `false`';
    case 'integer':
      return `whole number${range(schema)}`;
    case 'number':
      return `number${range(schema)}`;
    case 'array':
      return `list of ${valueText(items ?? {}).replace(/^map$/, 'maps')}`;
    case 'object':
      return 'map';
    default:
      return 'anything';
  }
}

function range({ minimum, maximum, exclusiveMinimum }: JsonSchema): string {
  const words = [
    ...(exclusiveMinimum === undefined ? [] : [`above ${exclusiveMinimum}`]),
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER
      ? []
      : [`at least ${minimum}`]),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : [`at most ${maximum}`]),
  ];
  return words.length === 0 ? '' : `, ${words.join(', ')}`;
}

/** Writes a value on one line of YAML; a map at the top without its braces. */
function flow(value: unknown, hasBraces = true): string {
  const text = stringify(value, {
    collectionStyle: 'flow',
    flowCollectionPadding: false,
    lineWidth: 0,
  });
  return hasBraces ? text.trim() : text.trim().replace(/^\{(.*)\}$/s, '$1');
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}
