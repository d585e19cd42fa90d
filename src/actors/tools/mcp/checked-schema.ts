import type { JsonValue } from '../../../machines/json.ts';
import { UnfitToolError } from './unfit-tool.ts';

/** The longest schema, in characters of JSON. */
const longestSchema = 16 * 1024;

/** How deep a schema may go. */
const deepest = 32;

/** What neither shows nor is needed in a text: control, format and line-breaking characters but line feed and tab. */
const unseen = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Returns a schema of a server without characters that do not show. Throws UnfitToolError for one that is too much. */
export function checkedSchema(schema: JsonValue): JsonValue {
  if (isDeep(schema)) {
    throw new UnfitToolError(`has an inputSchema of more than ${deepest} levels`);
  }
  if (JSON.stringify(schema).length > longestSchema) {
    throw new UnfitToolError('has an inputSchema of more than 16 KiB');
  }
  return cleaned(schema);
}

/** Returns a text of a server without characters that do not show. */
export function clean(text: string): string {
  return text.toWellFormed().replaceAll(unseen, '');
}

/** Goes down level by level, as a schema that is too deep would take the stack of a function that calls itself. */
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
