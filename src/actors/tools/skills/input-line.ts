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

/** A parsed `**Input:**` line, with the problems of its unrecognised parts. */
export interface InputLine {
  parameters: JsonObject;
  unread: string[];
}

/**
 * Converts `order_id (string), note (string, optional)` to a JSON Schema.
 *
 * An argument is required unless its parentheses contain `optional`; one without a type accepts any value. Lists are
 * written `string[]`. `none` means no arguments.
 */
export function parseInputLine(text: string): InputLine {
  const properties: JsonObject = {};
  const required: string[] = [];
  const unread: string[] = [];
  if (/^(?:none|nothing|-|–|—)?\.?$/i.test(text)) return { parameters: { type: 'object' }, unread };
  for (const item of splitOutsideBrackets(text)) {
    const match = /^`?([A-Za-z_][\w-]*)`?\s*(?:\(([^()]*)\))?(.*)$/.exec(item);
    const name = match?.[1];
    if (name === undefined) {
      unread.push(`"${item}" is not an argument such as order_id (string)`);
      continue;
    }
    const words = (match?.[2] ?? '').split(',').map((word) => word.trim().toLowerCase());
    const schema = typeOf(words[0] === 'optional' ? '' : (words[0] ?? ''));
    if (schema === undefined) unread.push(`"${words[0]}" of ${name} is not a known type`);
    const about = match?.[3]?.replace(/^\s*[-–—:]\s*|\.$/g, '').trim() ?? '';
    properties[name] = { ...schema, ...(about === '' ? {} : { description: about }) };
    if (!words.includes('optional')) required.push(name);
  }
  return { parameters: { type: 'object', properties, required }, unread };
}

function typeOf(word: string): JsonObject | undefined {
  if (word === '' || word === 'any') return {};
  if (word.endsWith('[]')) {
    const items = typeOf(word.slice(0, -2));
    return items && { type: 'array', items };
  }
  return Object.hasOwn(types, word) ? types[word] : undefined;
}

function splitOutsideBrackets(text: string): string[] {
  const items = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth <= 0) items.push('');
    else items[items.length - 1] += character;
  }
  return items.map((item) => item.trim()).filter((item) => item !== '');
}
