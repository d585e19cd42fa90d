import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shortLine } from '../../../src/actors/telemetry/log.ts';

const record = { time: '2026-07-01T09:00:00.000Z', level: 'warn' };

describe('a short line of the log', () => {
  it('contains no direction mark and no second line', () => {
    const msg = '\u001b[2Ja\u202eb\u2028c\nd';
    expect(shortLine(JSON.stringify({ ...record, msg, key: 'x\u2066y' }))).toBe(
      '09:00:00 warn  a b c d key=x y\n',
    );
  });

  it('contains no unsafe character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (msg, key) => {
        const line = shortLine(JSON.stringify({ ...record, msg, [`x${key}`]: key }));
        expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      }),
    );
  });
});
