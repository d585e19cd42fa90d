import type { JsonSchema } from '../../src/actors/config/json-schema.ts';

/** One key of a file, as the page shows it. */
export interface Key {
  /** From the top of the file; `[]` is an entry of a list, `<name>` one of a map. */
  path: readonly string[];
  schema: JsonSchema;
  isRequired: boolean;
}

/** Finds every key below a schema, each before those in it; a key of several kinds of entry comes once for each. */
export function keysOf(schema: JsonSchema, path: readonly string[] = []): Key[] {
  const { properties = {}, required = [], items, additionalProperties } = schema;
  const own = Object.entries(properties).flatMap(([name, child]) => [
    { path: [...path, name], schema: child, isRequired: required.includes(name) },
    ...keysOf(child, [...path, name]),
  ]);
  const isOpen = typeof additionalProperties === 'object' && Object.keys(properties).length === 0;
  return [
    ...own,
    ...optionsOf(schema).flatMap((option) => keysOf(option, path)),
    ...(items ? keysOf(items, [...path, '[]']) : []),
    ...(isOpen ? keysOf(additionalProperties, [...path, '<name>']) : []),
  ];
}

/** The kinds of value that a place accepts, where there is a choice. A list of another kind is omitted. */
export function optionsOf({ anyOf, oneOf }: JsonSchema): JsonSchema[] {
  const options = (anyOf ?? oneOf ?? []).filter(({ type }) => type !== 'null');
  const written = new Set(options.map((option) => JSON.stringify(option)));
  return options.filter(({ items }) => items === undefined || !written.has(JSON.stringify(items)));
}

/** Writes a path as users do: `auth.providers[].settings.<name>`. */
export function pathText(path: readonly string[]): string {
  return path.join('.').replaceAll('.[]', '[]');
}

/** Whether a key holds other keys, which have rows of their own. */
function isContainer({ schema }: Key): boolean {
  return keysOf(schema).length > 0;
}

/**
 * One value of a key that can be written unchanged, or `undefined` for a key that holds others and shows none.
 * Throws where a key has neither an example nor values to choose from.
 */
export function exampleOf(key: Key): unknown {
  const { schema, path } = key;
  const { example, enum: choices, const: only, type, default: usual } = schema;
  if (example !== undefined) return example;
  if (type === 'boolean') return usual !== true;
  if (only !== undefined) return only;
  if (choices) return choices.find((choice) => choice !== usual) ?? usual;
  if (isContainer(key)) return undefined;
  throw new Error(`${pathText(path)} has no example; write one into its schema`);
}
