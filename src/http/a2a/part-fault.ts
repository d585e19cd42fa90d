import { isBase64 } from '../../machines/base64.ts';
import { fieldOf } from '../wire/field-of.ts';

/** Where the versions of A2A and their REST forms carry bytes in a part. */
const places = [['raw'], ['file', 'bytes'], ['file', 'fileWithBytes'], ['file', 'file_with_bytes']];

/**
 * Says which part of a message that is sent holds malformed base64, which the SDK would repair in silence; `null`
 * without one.
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
