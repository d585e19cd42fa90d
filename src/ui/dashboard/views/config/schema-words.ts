/** A valid key or value at a position in a document, from its JSON Schema. */
export interface SchemaWord {
  word: string;
  kind: 'key' | 'value';
  about: string;
}

/** A part of a JSON Schema, used only for completion. */
export type Schema = Readonly<Record<string, unknown>>;

/** Lists the keys and values that a schema allows at a path of keys. An item of a list has the path of the list. */
export function wordsAt(schema: Schema, path: readonly string[]): SchemaWord[] {
  const words = path
    .reduce((places, key) => places.flatMap((place) => below(place, key)), variants(schema))
    .flatMap((place) => [...keysOf(place), ...valuesOf(place)]);
  return [...new Map(words.map((word) => [`${word.kind} ${word.word}`, word])).values()];
}

/**
 * Finds the path of keys at a position in a string, and whether the position is a value. Uses indentation only, because
 * text being typed is rarely valid.
 */
export function placeIn(before: string): { path: string[]; isValue: boolean; word: string } {
  const lines = before.split('\n');
  const last = lines.at(-1) ?? '';
  const here = /^(\s*(?:- +)*)(?:([\w.-]+):[ \t]+)?\[?"?([\w.${}:-]*)$/.exec(last);
  if (here === null) return { path: [], isValue: false, word: '' };
  const [, indent = '', key, word = ''] = here;
  const path: string[] = key === undefined ? [] : [key];
  let depth = indent.replaceAll('-', ' ').length;
  for (const line of lines.slice(0, -1).toReversed()) {
    const above = /^(\s*(?:- +)*)([\w.-]+):/.exec(line);
    if (above === null) continue;
    const [, space = '', name = ''] = above;
    const isItem = last.trimStart().startsWith('-') && space.length === depth;
    if (space.length >= depth && !isItem) continue;
    if (isItem && !/:\s*$/.test(line)) continue;
    path.unshift(name);
    depth = space.replaceAll('-', ' ').length;
    if (depth === 0) break;
  }
  return { path, isValue: key !== undefined, word };
}

function below(schema: Schema, key: string): Schema[] {
  const { properties, additionalProperties } = schema;
  const named = objectOf(properties)?.[key];
  return variants(objectOf(named) ?? objectOf(additionalProperties) ?? {});
}

/** Returns a schema and all its alternatives; for a list, the schemas of its items. */
function variants(schema: Schema): Schema[] {
  const others = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => listOf(schema[name]));
  const items = objectOf(schema['items']);
  return [
    schema,
    ...[...others, ...(items === null ? [] : [items])].flatMap((one) => variants(one)),
  ];
}

function keysOf(schema: Schema): SchemaWord[] {
  return Object.entries(objectOf(schema['properties']) ?? {}).map(([word, part]) => ({
    word,
    kind: 'key',
    about: aboutOf(objectOf(part) ?? {}),
  }));
}

function valuesOf(schema: Schema): SchemaWord[] {
  const values = [...unknowns(schema['enum']), schema['const']];
  const truths = schema['type'] === 'boolean' ? [true, false] : [];
  return [...values, ...truths]
    .filter((value) => value !== undefined && value !== null)
    .map((value) => ({
      word: typeof value === 'string' ? value : JSON.stringify(value),
      kind: 'value',
      about: '',
    }));
}

function aboutOf({ description }: Schema): string {
  return typeof description === 'string' ? description : '';
}

function objectOf(value: unknown): Schema | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Schema)
    : null;
}

function listOf(value: unknown): Schema[] {
  return unknowns(value)
    .map(objectOf)
    .filter((one) => one !== null);
}

function unknowns(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
