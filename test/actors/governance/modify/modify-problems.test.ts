import { expect, it } from 'vitest';
import {
  compileModify,
  type ModifyRules,
} from '../../../../src/actors/governance/modify/modify.ts';

type ArgumentRule = Extract<
  ModifyRules['tools'][string],
  { arguments: unknown }
>['arguments'][number];

function problemsOf(rules: ModifyRules): string[] {
  const reading = compileModify(rules);
  if (reading.ok) return [];
  return reading.problems.map(({ path, message }) => `${path.join('/')} | ${message}`);
}

const notRe2 = (what: string) => `this pattern is not RE2 syntax: ${what}; correct it`;
const empty = 'this pattern matches the empty text; let it match at least one character';

it.each([
  ['a(?=b)', 'RE2 has no lookahead; write the pattern without'],
  ['a(?!b)', 'RE2 has no lookahead; write the pattern without'],
  ['(?<=a)b', 'RE2 has no lookbehind; write the pattern without'],
  ['(?<!a)b', 'RE2 has no lookbehind; write the pattern without'],
  ['(a)\\1', 'RE2 has no backreferences; write the pattern without'],
  ['(?>a)', 'RE2 has no atomic groups; write the pattern without'],
  ['a++', 'RE2 has no possessive repetition; write the pattern without'],
  ['[a', notRe2('missing closing ]')],
  ['(a', notRe2('missing closing )')],
  ['a{1001}', notRe2('invalid repeat count')],
  ['', empty],
  ['a*', empty],
  ['^', empty],
  ['$', empty],
  ['\\b', empty],
  ['\\B', empty],
  ['(?m)^', empty],
  ['(?:|x)', empty],
])('a MODIFY pattern %s is refused', (pattern, message) => {
  const rule = { replace: { pattern, with: '' } };
  expect(
    problemsOf({ tools: { pay: { arguments: [{ path: 'a', ...rule }], output: [rule] } } }),
  ).toEqual([
    `tools/pay/arguments/0/replace/pattern | ${message}`,
    `tools/pay/output/0/replace/pattern | ${message}`,
  ]);
});

const lacking =
  'this refers to a group that the pattern lacks; correct it, or write $$ for a dollar sign';
const unclosed = 'a ${ is not closed; add the }, or write $$ for a dollar sign';

it.each([
  ['$2', lacking],
  ['$1x', lacking],
  ['${1x}', lacking],
  ['${}', lacking],
  ['$name', lacking],
  ['${toString}', lacking],
  ['costs $5', lacking],
  ['${n', unclosed],
])('a MODIFY replacement %s is refused', (text, message) => {
  const replace = { pattern: '(?P<n>a)', with: text };
  expect(problemsOf({ tools: { pay: { arguments: [], output: [{ replace }] } } })).toEqual([
    `tools/pay/output/0/replace/with | ${message}`,
  ]);
});

it.each(['$0', '$1', '${1}', '$n', '${n}', '$$2', '$', '$ 2', '$01'])(
  'a MODIFY replacement %s is inserted',
  (text) => {
    const replace = { pattern: '(?P<n>a)', with: text };
    expect(problemsOf({ tools: { pay: { arguments: [], output: [{ replace }] } } })).toEqual([]);
  },
);

const emptyPart = 'a part of this path is empty; write keys and indexes with one dot between them';
const backslash =
  'a backslash in a path comes before a dot or another backslash; write \\\\ for one';

it.each([
  ['', emptyPart],
  ['.', emptyPart],
  ['a..b', emptyPart],
  ['a.', emptyPart],
  ['.a', emptyPart],
  ['a\\b', backslash],
  ['a\\', backslash],
  [
    Array(65).fill('a').join('.'),
    'this path has more than 64 parts; choose a place nearer to the top',
  ],
])('a MODIFY path %s is refused', (path, message) => {
  const rules: ArgumentRule[] = [
    { path: 'a', set: 1 },
    { path, set: 1 },
  ];
  expect(problemsOf({ tools: { pay: { arguments: rules, output: [] } } })).toEqual([
    `tools/pay/arguments/1/path | ${message}`,
  ]);
});

it.each([
  { path: 'a', set: 1, remove: true },
  { path: 'a', set: 1, replace: { pattern: 'a', with: '' } },
  { path: 'a' },
])('the rule %j is refused, because it is ambiguous', (rule) => {
  expect(problemsOf({ tools: { pay: { arguments: [rule as ArgumentRule], output: [] } } })).toEqual(
    ['tools/pay/arguments/0 | a rule does one thing; give it one of set, remove and replace'],
  );
});

it('all errors are reported at once', () => {
  const bad = { pattern: '(', with: '' };
  const rules: ArgumentRule[] = [{ path: '', replace: bad }];
  const tools = {
    pay: { arguments: rules, output: [] },
    grant: { arguments: [], output: [{ replace: { pattern: 'a', with: '$1' } }] },
  };
  expect(problemsOf({ tools })).toEqual([
    `tools/pay/arguments/0/path | ${emptyPart}`,
    `tools/pay/arguments/0/replace/pattern | ${notRe2('missing closing )')}`,
    `tools/grant/output/0/replace/with | ${lacking}`,
  ]);
});
