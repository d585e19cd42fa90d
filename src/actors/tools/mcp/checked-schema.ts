import type { JsonValue } from '../../../machines/json.ts';
import { UnfitToolError } from './unfit-tool.ts';

/** Maximum characters of a schema as JSON. */
const longestSchema = 16 * 1024;

/** Maximum depth of a schema. */
const deepest = 32;

/** Invisible characters that no text needs: control, format and line-breaking characters, except line feed and tab. */
const unseen = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Returns a server's schema without invisible characters. Throws UnfitToolError if it exceeds the limits. */
export function checkedSchema(schema: JsonValue): JsonValue {
  if (isDeep(schema)) {
    throw new UnfitToolError(`has an inputSchema of more than ${deepest} levels`);
  }
  if (JSON.stringify(schema).length > longestSchema) {
    throw new UnfitToolError('has an inputSchema of more than 16 KiB');
  }
  return cleaned(schema);
}

/** Returns a server's text without invisible characters. */
export function clean(text: string): string {
  return text.toWellFormed().replaceAll(unseen, '');
}

/** Iterates level by level, since a deep schema would overflow the stack of a recursive function. */
function isDeep(schema: JsonValue): boolean {
  let level: JsonValue[] = [schema];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepest) return true;
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
  return false;
}

function cleaned(value: JsonValue): JsonValue {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [clean(key), cleaned(item)]),
  );
}
