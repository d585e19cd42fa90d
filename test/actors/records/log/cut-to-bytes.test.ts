import { describe, expect, it } from 'vitest';
import { cutToBytes } from '../../../../src/actors/records/log/cut-to-bytes.ts';

const whole = (text: string) => ({
  text,
  isPart: false,
  originalSize: () => Buffer.byteLength(text),
});
const marker = (size: number) => ` [cut: ${size} bytes in all]`;

describe('cutToBytes', () => {
  it.each([
    ['', 0, ''],
    ['refund', 6, 'refund'],
    ['zu spät', 8, 'zu spät'],
    ['\ud83e', 3, '\ufffd'],
  ])('keeps %j of at most %i bytes whole, and well-formed', (text, maximum, shown) => {
    expect(cutToBytes(whole(text), maximum)).toBe(shown);
  });

  it.each([
    ['between characters', 'x'.repeat(40), 29, `${'x'.repeat(6)}${marker(40)}`],
    ['before a character of two bytes', `x${'ä'.repeat(20)}`, 29, `xää${marker(41)}`],
    ['before a character of four bytes', '🧾'.repeat(10), 30, `🧾${marker(40)}`],
    ['after half a pair', `\udfff${'x'.repeat(40)}`, 27, `\ufffdx${marker(43)}`],
  ])('cuts %s and states the original size', (_, text, maximum, shown) => {
    expect(cutToBytes(whole(text), maximum)).toBe(shown);
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(maximum);
  });

  it('states the original size of a partial text, however short', () => {
    const part = { text: 'the beginning', isPart: true, originalSize: () => 9_000 };
    expect(cutToBytes(part, 100)).toBe(`the beginning${marker(9_000)}`);
  });

  it('shows only the marker where there is no room for more', () => {
    expect(cutToBytes(whole('refund'), 0)).toBe(marker(6));
    expect(cutToBytes(whole('x'.repeat(30)), marker(30).length)).toBe(marker(30));
  });

  it('reads the original size only when it states it', () => {
    const unasked = () => {
      throw new Error('nobody wants to know');
    };
    expect(cutToBytes({ text: 'ok', isPart: false, originalSize: unasked }, 2)).toBe('ok');
  });
});
