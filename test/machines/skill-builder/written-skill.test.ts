import { expect, it } from 'vitest';
import {
  isScriptName,
  longestAnswer,
  mostScripts,
  scriptsProblem,
} from '../../../src/machines/skill-builder/written-skill.ts';

it('reads answers of one MiB and skills of 32 scripts', () => {
  expect([longestAnswer, mostScripts]).toEqual([1_048_576, 32]);
});

const rightNames = ['a', 'look-up.sh', 'A_1', '-x', '_', 'a..b', 'a.', '0', 'x'.repeat(64)];
const wrongNames = [
  ...['', '.', '..', '.bashrc', 'a/b', '/a', 'a\\b', 'a b', ' a', 'a ', 'a\n', '\na', 'ä', 'a:b'],
  'x'.repeat(65),
];

it.each(rightNames)('accepts the script name %s', (name) => {
  expect([isScriptName(name), scriptsProblem({ [name]: '' })]).toEqual([true, null]);
});

it.each(wrongNames)('refuses the script name %j and does not repeat it', (name) => {
  expect([isScriptName(name), scriptsProblem({ 'a.sh': '', [name]: '', 'b.sh': '' })]).toEqual([
    false,
    'the name of a script is up to 64 letters, digits, dots, hyphens and underscores and does not begin with a dot, such as look-up.sh; rename it',
  ]);
});

it('accepts 32 scripts in a skill and refuses 33', () => {
  const of = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, '']));
  expect([0, 32, 33].map((count) => scriptsProblem(of(count)))).toEqual([
    ...[null, null],
    'a skill has at most 32 scripts; write fewer',
  ]);
});
