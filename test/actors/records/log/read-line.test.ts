import { describe, expect, it } from 'vitest';
import { readLine } from '../../../../src/actors/records/log/read-line.ts';

const limit = 4 * 1024 * 1024;
const read = (...bytes: number[]) => readLine(Uint8Array.from(bytes));

describe('readLine', () => {
  it('reads an object in canonical form', () => {
    expect(readLine(Buffer.from('{"a":"ä","b":[1]}'))).toStrictEqual({ a: 'ä', b: [1] });
  });

  it('skips a byte order mark of three bytes, and no part of one', () => {
    expect(read(0xef, 0xbb, 0xbf, 0x7b, 0x7d)).toBe('the line begins with a byte order mark');
    expect(read(0xef)).toBe('the line is not valid UTF-8');
    expect(read(0xef, 0xbb)).toBe('the line is not valid UTF-8');
    expect(read(0xef, 0xbb, 0x7b)).toBe('the line is not valid UTF-8');
    expect(read(0xef, 0xbc, 0xbf)).toBe('the line is not valid JSON');
    expect(read(0xee, 0xbb, 0xbf)).toBe('the line is not valid JSON');
    expect(read(0xef, 0xbb, 0xbe)).toBe('the line is not valid JSON');
  });

  it.each([
    [limit, 'the line holds a carriage return'],
    [limit + 1, 'the line is longer than 4 MiB'],
  ])('does not parse a line that is too long: %i bytes', (size, reason) => {
    expect(readLine(new Uint8Array(size).fill(0x0d))).toBe(reason);
  });
});
