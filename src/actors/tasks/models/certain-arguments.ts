import { hasRepeatedKey, measureJson } from '../../../machines/exact-json.ts';
import { isJsonObject, type JsonValue, parseJson } from '../../../machines/json.ts';

/**
 * Returns the one object that the arguments unambiguously mean, as JSON; `null` otherwise. Some models repeat it, write
 * `{}` before it, or encode it as a JSON string.
 */
export function certainArguments(written: string): string | null {
  const text = textWithin(written);
  if (text !== null) return isJsonObject(parseJson(text)) ? text : null;
  const objects = objectsIn(written);
  if (objects === null) return null;
  // Parsing may make different objects equal, where it changes their values.
  if (objects.length > 1 && !objects.every(isReadAsWritten)) return null;
  const meant = new Map(objects.map((json) => [JSON.stringify(parseJson(json)), json]));
  if (meant.size > 1) meant.delete('{}');
  const [only = null, ...others] = meant.values();
  return others.length === 0 ? only : null;
}

function textWithin(written: string): string | null {
  const value = parseJson(written);
  return typeof value === 'string' ? value : null;
}

/** Splits a string into its objects; `null` if it contains anything else. */
function objectsIn(written: string): string[] | null {
  const objects: string[] = [];
  let start = 0;
  let depth = 0;
  let isQuoted = false;
  for (let index = 0; index < written.length; index += 1) {
    const letter = written[index];
    if (isQuoted) {
      if (letter === '\\') index += 1;
      else if (letter === '"') isQuoted = false;
      continue;
    }
    if (letter === '"') isQuoted = true;
    else if (letter === '{') depth += 1;
    else if (letter === '}') {
      depth -= 1;
      if (depth !== 0) continue;
      const json = written.slice(start, index + 1).trim();
      if (!isJsonObject(parseJson(json))) return null;
      objects.push(json);
      start = index + 1;
    }
  }
  return written.slice(start).trim() === '' ? objects : null;
}

function isReadAsWritten(json: string): boolean {
  const measure = measureJson(json);
  return measure.inexact === null && !hasRepeatedKey(parseJson(json) as JsonValue, measure);
}
