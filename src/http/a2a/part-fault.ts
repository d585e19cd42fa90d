import { isBase64 } from '../../machines/base64.ts';
import { fieldOf } from '../wire/field-of.ts';

/** The locations of bytes in a part, for each A2A version and REST format. */
const places = [['raw'], ['file', 'bytes'], ['file', 'fileWithBytes'], ['file', 'file_with_bytes']];

/**
 * Names the part of a sent message that contains malformed base64, which the SDK would repair silently; `null` if there
 * is none.
 */
export function partFault(params: unknown): string | null {
  const message = fieldOf(params, 'message') ?? fieldOf(params, 'request');
  for (const name of ['parts', 'content']) {
    const parts = fieldOf(message, name);
    if (!Array.isArray(parts)) continue;
    for (const [index, part] of parts.entries()) {
      for (const place of places) {
        const held = place.reduce<unknown>(fieldOf, part);
        if (typeof held === 'string' && !isBase64(held)) {
          return `message.${name}.${index}.${place.join('.')} must be base64`;
        }
      }
    }
  }
  return null;
}
