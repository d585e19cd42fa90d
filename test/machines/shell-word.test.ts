import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shellWord } from '../../src/machines/shell-word.ts';
import { runs } from '../helpers/runs.ts';

describe('shellWord', () => {
  it('leaves a plain path as it is', () => {
    expect(shellWord('/srv/agents/refunds-1.0')).toBe('/srv/agents/refunds-1.0');
  });

  it.each([
    ['', "''"],
    ['a b', "'a b'"],
    ['a;reboot', "'a;reboot'"],
    ["it's", String.raw`'it'\''s'`],
  ])('quotes %j', (text, quoted) => {
    expect(shellWord(text)).toBe(quoted);
  });

  it('a shell reads a quoted word as the original word', () => {
    const word = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), (words) => {
        const command = `printf '%s\\0' ${words.map(shellWord).join(' ')}`;
        const seen = execFileSync('sh', ['-c', command], { encoding: 'utf8' });
        expect(seen).toBe(words.map((text) => `${text}\0`).join(''));
      }),
      { numRuns: runs(25) },
    );
  });
});
