import { isJsonObject, type JsonValue } from '../../../machines/json.ts';

/**
 * Adds the readable texts of a value: each key and each string separately, so that line breaks and quotes are not
 * hidden by escapes, and every list of plain values joined by blanks, like the words of a command.
 */
export function addTextsOf(value: JsonValue, texts: Set<string>): void {
  const open: JsonValue[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') texts.add(next);
    else if (Array.isArray(next)) {
      if (next.length > 1 && next.every(isPlain)) texts.add(next.map(String).join(' '));
      for (const item of next) open.push(item);
    } else if (isJsonObject(next)) {
      for (const [key, child] of Object.entries(next)) open.push(key, child);
    }
  }
}

function isPlain(value: JsonValue): boolean {
  return typeof value !== 'object' || value === null;
}
