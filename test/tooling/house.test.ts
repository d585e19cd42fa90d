import { expect, it } from 'vitest';
import { copiesIn } from '../../scripts/house/copies-in.ts';
import { declarationsIn } from '../../scripts/house/declarations-in.ts';

const six = ['a = 1;', 'b = 2;', 'c = 3;', 'd = 4;', 'e = 5;', 'f = 6;'];

it('a pair of places with six or more equal lines counts as one copy', () => {
  const first = { text: ["import { x } from './x.ts';", ...six, 'g = 7;'].join('\n') };
  const second = { text: ['other = 0;', '// A comment.', ...six, '', '  g = 7;'].join('\n') };
  expect(copiesIn([first, second])).toBe(1);
});

it('five lines are no copy, and a form at nine places is none', () => {
  const five = { text: six.slice(1).join('\n') };
  expect(copiesIn([five, five])).toBe(0);
  expect(copiesIn(Array.from({ length: 9 }, () => ({ text: six.join('\n') })))).toBe(0);
});

it('declarations of a fact are counted in types and schemas, not its values', () => {
  const text = [
    '  four_eyes: boolean;',
    '  readonly fourEyes?: true;',
    '  four_eyes: z.boolean(),',
    '  fourEyes: rule.four_eyes,',
    '  fourEyes: either(one, other),',
  ].join('\n');
  expect(declarationsIn([{ text }], 'four_eyes')).toBe(3);
});
