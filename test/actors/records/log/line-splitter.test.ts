import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from '../../../../src/actors/records/log/line-splitter.ts';

describe('LineSplitter', () => {
  it('splits equally for any chunks, even in a reused buffer', () => {
    const bytes = fc.array(fc.constantFrom(0x0a, 0x61, 0x62), { maxLength: 40 });
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 9 }), (content, size) => {
        const splitter = new LineSplitter(100);
        const buffer = Buffer.alloc(size);
        const lines: string[] = [];
        for (let at = 0; at < content.length; at += size) {
          const piece = content.slice(at, at + size);
          buffer.set(piece);
          for (const line of splitter.push(buffer.subarray(0, piece.length))) {
            lines.push(Buffer.from(line).toString());
          }
        }
        const expected = Buffer.from(content).toString().split('\n');
        const rest = expected.pop()!;
        expect(lines).toStrictEqual(expected);
        expect(splitter.pending).toBe(rest.length);
      }),
    );
  });

  it('copies no byte of a line in one piece', () => {
    const bytes = Uint8Array.from([0x61, 0x0a, 0x62]);
    const [line] = new LineSplitter(5).push(bytes);
    expect(line?.buffer).toBe(bytes.buffer);
  });

  it('keeps one byte more than the maximum of an endless line', () => {
    const splitter = new LineSplitter(5);
    for (let count = 0; count < 4; count += 1) {
      expect(Array.from(splitter.push(Buffer.from('abc')))).toStrictEqual([]);
    }
    expect(splitter.pending).toBe(6);
    const lines = Array.from(
      splitter.push(Buffer.from('d\ne\n')),
      (line) => `${Buffer.from(line)}`,
    );
    expect(lines).toStrictEqual(['abcabc', 'e']);
    expect(splitter.pending).toBe(0);
    const next = ['f', 'g\n'].flatMap((piece) => [...splitter.push(Buffer.from(piece))]);
    expect(next.map((line) => `${Buffer.from(line)}`)).toStrictEqual(['fg']);
  });
});
