import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { forbiddenIn, wordsIn } from './forbidden-words.ts';
import { root } from './run-command.ts';

const forbidden = forbiddenIn(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'));

it('the forbidden words are those in code font in the last column of the glossary', () => {
  expect([...forbidden.keys()].toSorted()).toEqual([
    'delete before',
    'desk',
    'door',
    'judge',
    'mint',
    'put away',
    'set aside',
    'take back',
    'way out',
  ]);
});

it('a word is found in names, private names and comments in all its forms, and in no string', () => {
  const source = [
    '/** Mints a token. */',
    "export class WayOut { #judged = 'a way out'; }",
    '// It was taken',
    '/* was taken',
    ' * back */',
    'const door = `mint`, outdoors = { mintedAt: putAway, minTimeout: 1 };',
    'const mint = judgeIntent;',
  ].join('\n');
  expect(wordsIn('src/a.ts', source, forbidden)).toEqual([
    'src/a.ts:1: mint',
    'src/a.ts:2: way out',
    'src/a.ts:2: judge',
    'src/a.ts:4: take back',
    'src/a.ts:6: door',
    'src/a.ts:6: mint',
    'src/a.ts:6: put away',
  ]);
});

it('the code contains no forbidden word', { timeout: 60_000 }, () => {
  const files = globSync('{src,packages}/**/*.ts', { cwd: root, exclude: ['packages/*/dist'] });
  expect(files.length).toBeGreaterThan(500);
  const found = files.flatMap((file) =>
    wordsIn(file, readFileSync(join(root, file), 'utf8'), forbidden),
  );
  expect(found).toEqual([]);
});
