import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTraceParent, writeTraceParent } from '../../src/machines/trace-parent.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

const hexadecimal = (length: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
    .map((digits) => digits.join(''))
    .filter((text) => !/^0+$/.test(text));

describe('readTraceParent', () => {
  it.each([
    [`00-${traceId}-${spanId}-01`, 1],
    [`00-${traceId}-${spanId}-00`, 0],
    [`00-${traceId}-${spanId}-ff`, 1],
    [` 00-${traceId}-${spanId}-01 `, 1],
    [`cc-${traceId}-${spanId}-01`, 1],
    [`cc-${traceId}-${spanId}-01-what-comes-later`, 1],
  ])('reads %j', (text, traceFlags) => {
    expect(readTraceParent(text)).toEqual({ traceId, spanId, traceFlags });
  });

  it.each([
    '',
    'nonsense',
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId.slice(1)}-${spanId}-01`,
    `0-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
    `cc-${traceId}-${spanId}-01.more`,
  ])('refuses %j', (text) => {
    expect(readTraceParent(text)).toBeNull();
  });

  it('reads ids that begin or end with zeros', () => {
    const ids = { traceId: `00${'1'.repeat(28)}00`, spanId: `00${'1'.repeat(12)}00` };
    const text = `00-${ids.traceId}-${ids.spanId}-01`;
    expect(readTraceParent(text)).toEqual({ ...ids, traceFlags: 1 });
  });

  it('reads back every written value, and never throws', () => {
    fc.assert(
      fc.property(hexadecimal(32), hexadecimal(16), fc.nat(1), (trace, span, traceFlags) => {
        const parent = { traceId: trace, spanId: span, traceFlags };
        expect(readTraceParent(writeTraceParent(parent))).toEqual(parent);
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(readTraceParent(text)).toBeNull();
      }),
    );
  });
});
