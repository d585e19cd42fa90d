import type { JsonObject } from '../../../machines/json.ts';

const types: Record<string, JsonObject> = {
  string: { type: 'string' },
  number: { type: 'number' },
  float: { type: 'number' },
  integer: { type: 'integer' },
  int: { type: 'integer' },
  boolean: { type: 'boolean' },
  bool: { type: 'boolean' },
  object: { type: 'object' },
  array: { type: 'array' },
  list: { type: 'array' },
};

/** The arguments that a string describes, with the problems of its unrecognised parts. */
export interface InputLine {
  parameters: JsonObject;
  unread: Unread[];
}

/** Part of a string that describes no argument. */
export interface Unread {
  reason: string;
  /** Characters before it. */
  at: number;
}

/** One argument; `schema` is `undefined` for an unknown type. */
export interface Argument {
  name: string;
  type: string;
  schema: JsonObject | undefined;
  isOptional: boolean;
}

const none = /^\W*(?:none|nothing)?\W*$/i;

/**
 * Converts `order_id (string), note (string, optional: why)` to a JSON Schema.
 *
 * An argument is required unless its parentheses contain `optional` or a default; one without a type accepts any value.
 * Lists are written `string[]`. Text after the type, such as `string: owner/repo`, describes the argument. `none` means
 * no arguments.
 */
export function parseInputLine(text: string): InputLine {
  if (none.test(text)) return { parameters: { type: 'object' }, unread: [] };
  const read = splitOutsideBrackets(text).map(({ item, at }) => ({ at, ...readArgument(item) }));
  return {
    parameters: schemaOf(read.flatMap(({ argument }) => (argument === undefined ? [] : argument))),
    unread: read.flatMap(({ at, reason }) => (reason === undefined ? [] : { reason, at })),
  };
}

/** Creates the JSON Schema of arguments. */
export function schemaOf(args: readonly Argument[]): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries(args.map(({ name, schema = {} }) => [name, schema])),
    required: args.filter(({ isOptional }) => !isOptional).map(({ name }) => name),
  };
}

/** Reads `note (string, optional) - why`. */
export function readArgument(item: string): { argument?: Argument; reason?: string } {
  const [, name, open = '', rest = ''] = /^`?([A-Za-z_][\w-]*)`?\s*(\(?)(.*)$/s.exec(item) ?? [];
  if (name === undefined || (open === '' && !/^(?:$|[-–—:])/.test(rest))) {
    return { reason: `"${item}" is not an argument such as order_id (string)` };
  }
  const end = open === '' ? 0 : closing(rest);
  const argument = argumentOf(name, rest.slice(0, end), rest.slice(end + open.length));
  return argument.schema === undefined ? { argument, reason: unknownType(argument) } : { argument };
}

/** Creates an argument from the text of its type, such as `string, optional: why`, and a further description. */
export function argumentOf(name: string, kind: string, text: string): Argument {
  const [, word = '', after = ''] = /^\s*([^\s:,(]*)(.*)$/s.exec(kind.replaceAll('`', '')) ?? [];
  const isTypeless = /^(?:optional|required)$/i.test(word);
  const isRead = /^\s*(?:$|[,:;(–—-])/.test(after);
  const type = isRead ? word : kind.trim();
  const details = (isTypeless ? `, ${kind}` : after).trim();
  const about = [/^[,:(]?\s*(?:optional|required)?[\s:,)]*(.*)$/is.exec(details)?.[1] ?? '', text]
    .map((part) => part.replace(/^\s*[-–—:]\s*|\.$/g, '').trim())
    .filter((part) => part !== '')
    .join('; ');
  const schema = isRead ? typeOf(isTypeless ? '' : type.toLowerCase()) : undefined;
  return {
    name,
    type,
    schema: schema && { ...schema, ...(about === '' ? {} : { description: about }) },
    isOptional: /(?:^|[,(])\s*optional\b/i.test(details) || hasDefault.test(details),
  };
}

/** Matches a default at the start of a clause, as in `string: open/closed, default: open`. */
const hasDefault = /(?:^|[,;:–—-])\s*defaults?(?:\s*[:=]|\s+(?:to\s)?)\s*\S/i;

/** Words the problem of an argument whose type is unknown. */
export function unknownType({ name, type }: Argument): string {
  return `"${type}" of ${name} is not a known type`;
}

function typeOf(word: string): JsonObject | undefined {
  if (word === '' || word === 'any') return {};
  if (word.endsWith('[]')) {
    const items = typeOf(word.slice(0, -2));
    return items && { type: 'array', items };
  }
  return Object.hasOwn(types, word) ? types[word] : undefined;
}

/** Returns the index of the parenthesis that closes the one before the text; its length if none does. */
function closing(text: string): number {
  let depth = 1;
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === '(') depth += 1;
    if (text[index] === ')') depth -= 1;
    if (depth === 0) return index;
  }
  return text.length;
}

function splitOutsideBrackets(text: string): { item: string; at: number }[] {
  const items: { item: string; at: number }[] = [];
  let start = 0;
  let depth = 0;
  for (let index = 0; index <= text.length; index += 1) {
    const character = text[index];
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character !== undefined && (character !== ',' || depth > 0)) continue;
    const item = text.slice(start, index);
    const blanks = item.length - item.trimStart().length;
    if (item.trim() !== '') items.push({ item: item.trim(), at: start + blanks });
    start = index + 1;
  }
  return items;
}
