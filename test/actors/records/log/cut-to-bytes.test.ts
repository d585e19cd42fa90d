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
  ])('leaves %j of at most %i bytes whole, and well formed', (text, maximum, shown) => {
    expect(cutToBytes(whole(text), maximum)).toBe(shown);
  });

  it.each([
    ['between characters', 'x'.repeat(40), 29, `${'x'.repeat(6)}${marker(40)}`],
    ['before a character of two bytes', `x${'ä'.repeat(20)}`, 29, `xää${marker(41)}`],
    ['before a character of four bytes', '🧾'.repeat(10), 30, `🧾${marker(40)}`],
    ['behind half a pair', `\udfff${'x'.repeat(40)}`, 27, `\ufffdx${marker(43)}`],
  ])('cuts %s and says how much there was', (_, text, maximum, shown) => {
    expect(cutToBytes(whole(text), maximum)).toBe(shown);
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(maximum);
  });

  it('says how much there was of a text that is a part already, however short', () => {
    const part = { text: 'the beginning', isPart: true, originalSize: () => 9_000 };
    expect(cutToBytes(part, 100)).toBe(`the beginning${marker(9_000)}`);
  });

  it('shows the marker alone where there is no room for more', () => {
    expect(cutToBytes(whole('refund'), 0)).toBe(marker(6));
    expect(cutToBytes(whole('x'.repeat(30)), marker(30).length)).toBe(marker(30));
  });

  it('asks for the size of what it comes from only when it says it', () => {
    const unasked = () => {
      throw new Error('nobody wants to know');
    };
    expect(cutToBytes({ text: 'ok', isPart: false, originalSize: unasked }, 2)).toBe('ok');
  });
});
