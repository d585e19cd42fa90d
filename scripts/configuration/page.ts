import { stringify } from 'yaml';
import type { JsonSchema } from '../../src/actors/config/json-schema.ts';
import { channelSchemas, configuredAdapters } from '../../src/actors/config/schema-channels.ts';
import { dashboardSchema } from '../../src/actors/config/schema-dashboard.ts';
import { serviceSchema } from '../../src/actors/config/service-schema.ts';
import { describeKeys } from '../../src/actors/config/unknown-keys.ts';
import { durationPattern } from '../../src/actors/schema-value.ts';
import { frontmatterSchema } from '../../src/actors/tools/skills/frontmatter-schema.ts';
import { exampleOf, type Key, keysOf, optionsOf, pathText } from './keys.ts';
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
  const rows = new Rows();
  const { 'service.yaml': service = {}, ...others } = describedFiles();
  const sections = Object.entries(service.properties ?? {});
  const top = sections.filter(([, section]) => section.type !== 'object');
  const rest = sections.filter(([, section]) => section.type === 'object');
  const isTop = ({ path: [name = ''] }: Key) => top.some(([key]) => key === name);
  const keys = keysOf(service);
  return `${[
    beginning,
    '## The agent',
    rows.table(keys.filter(isTop)),
    ...rest.flatMap(([name, section]) => chapter(name, section, rows)),
    ...Object.entries(others).flatMap(([file, schema]) => [
      `## ${file}`,
      ...(file === 'SKILL.md' ? [skillNote] : []),
      rows.table(
        keysOf(schema).filter(({ path }) => path[1] !== 'forge'),
        file,
      ),
    ]),
  ].join('\n\n')}\n`;
}

/** One section of `service.yaml`, with a table for each layer of `security` and each type of provider. */
function chapter(name: string, section: JsonSchema, rows: Rows): string[] {
  const keys = keysOf(section, [name]);
  const parts = partsOf(name, section);
  const isInPart = ({ schema }: Key) => parts.some((part) => part.schemas.has(schema));
  return [
    `## ${name}`,
    [describe({ path: [name], schema: section, isRequired: false }), seeAlso[name]]
      .filter((text) => text !== undefined)
      .join(' '),
    rows.table(keys.filter((key) => !isInPart(key))),
    ...parts.flatMap((part) => [`### ${part.title}`, part.about, rows.table(part.keys)]),
  ].filter((text) => text !== '');
}

interface Part {
  title: string;
  about: string;
  keys: Key[];
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
  const keys = keysOf(schema, path);
  return { title, about, keys, schemas: new Set([schema, ...keys.map((key) => key.schema)]) };
}

/** Descriptions of fewer words are repeated: a reference to another row would be as long. */
const shortest = 6;

/** Writes tables of keys. A fact that an earlier row of the page states is a reference to that row. */
class Rows {
  readonly #places = new Map<string, string>();

  table(keys: readonly Key[], file = ''): string {
    const rows = keys.map((key) => this.#row(key, file)).filter((one) => one !== undefined);
    if (rows.length === 0) return '';
    const heads = ['Key', 'Value; default', 'What it does', 'Example'];
    const written = joined(rows).map((one) => row(cellsOf(one)));
    return [row(heads), row(heads.map(() => '---')), ...written].join('\n');
  }

  /** The row of a key, or `undefined` if the same key has the same row already. */
  #row(key: Key, file: string): Row | undefined {
    const name = pathText(key.path);
    const cells: Row['cells'] = [value(key), describe(key), shownExample(key)];
    const fact = JSON.stringify([key.path.at(-1), ...cells]);
    const place = this.#places.get(fact);
    const here = `${file} ${code(name)}`.trim();
    if (place === undefined) {
      this.#places.set(fact, here);
      return { names: [name], cells };
    }
    return place === here ? undefined : { names: [name], cells, place };
  }
}

/** A row, with the place of an earlier row that states the same. */
interface Row {
  names: string[];
  cells: [value: string, about: string, example: string];
  place?: string;
}

/** Joins the rows of keys in one map that state the same as keys of these names in another map. */
function joined(rows: readonly Row[]): Row[] {
  return rows.reduce<Row[]>((all, one) => {
    const last = all.at(-1);
    const isLike =
      last?.place !== undefined &&
      one.place !== undefined &&
      mapOf(last.names[0]) === mapOf(one.names[0]) &&
      mapOf(last.place) === mapOf(one.place);
    if (!isLike) return [...all, one];
    return [...all.slice(0, -1), { ...last, names: [...last.names, ...one.names] }];
  }, []);
}

function mapOf(name = ''): string {
  return name.slice(0, name.lastIndexOf('.'));
}

function cellsOf({ names: [first = '', ...others], cells, place }: Row): string[] {
  const names = [first, ...others.map((name) => name.slice(name.lastIndexOf('.') + 1))];
  const name = names.map(code).join(', ');
  if (place !== undefined && others.length > 0) return [name, '', `As in ${mapOf(place)}\`.`, ''];
  const isLong = cells[1].split(' ').length >= shortest;
  return [name, ...(place !== undefined && isLong ? ['', `As ${place}.`, ''] : cells)];
}

/** The example of a key. A value of a short list needs none: the list shows it. */
function shownExample(key: Key): string {
  const { type, enum: choices, const: only } = key.schema;
  if (type === 'boolean' || choices !== undefined || only !== undefined) return '';
  const example = exampleOf(key);
  return example === undefined ? '' : code(flow(example, false));
}

/** What may be written, and after a semicolon the default, or that the key is required. */
function value(key: Key): string {
  return [valueText(key.schema), usual(key)].filter((text) => text !== '').join('; ');
}

function describe({ schema, path }: Key): string {
  const { description = '' } = schema;
  if (/[^.]\.$/.test(description)) return description;
  throw new Error(
    `${pathText(path)} has no description that is a sentence; write one into its schema`,
  );
}

function usual({ schema: { default: value }, isRequired }: Key): string {
  if (isRequired) return 'required';
  return value === undefined || JSON.stringify(value) === '{}' ? '' : code(flow(value));
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
        ? 'string'
        : `string, at most ${schema.maxLength} characters`;
    case 'boolean':
      return 'boolean';
    case 'integer':
      return `integer${range(schema)}`;
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
