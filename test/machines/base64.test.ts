import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isBase64 } from '../../src/machines/base64.ts';

it('recognizes base64 as an encoder writes it, and nothing else', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
        fc.string({ unit: fc.constantFrom('A', 'Q', '/', '+', '9', '=', '-', '_', ' ', 'é') }),
      ),
      (text) => {
        expect(isBase64(text)).toBe(Buffer.from(text, 'base64').toString('base64') === text);
      },
    ),
  );
});
