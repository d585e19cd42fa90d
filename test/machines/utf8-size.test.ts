import fc from 'fast-check';
import { expect, it } from 'vitest';
import { utf8Size } from '../../src/machines/utf8-size.ts';

it.each([
  ['', 0],
  ['a', 1],
  ['\u007f', 1],
  ['\u0080', 2],
  ['\u07ff', 2],
  ['\u0800', 3],
  ['\ud7ff', 3],
  ['\ue000', 3],
  ['\uffff', 3],
  ['\ud800\udc00', 4],
  ['\udbff\udfff', 4],
  ['a退款', 7],
])('%j has %i bytes', (text, bytes) => {
  expect([utf8Size(text), Buffer.byteLength(text)]).toEqual([bytes, bytes]);
});

it('the byte size equals the size of the encoded string', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(utf8Size(text)).toBe(Buffer.byteLength(text));
    }),
  );
});
