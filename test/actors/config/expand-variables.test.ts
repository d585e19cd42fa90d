import { expect, it } from 'vitest';
import { expandVariables } from '../../../src/actors/config/expand-variables.ts';

const env = { NAME: 'ann', EMPTY: '', NESTED: '${NAME}' };

it.each<[string, string, string[]]>([
  ['plain', 'plain', []],
  ['hello ${NAME}!', 'hello ann!', ['ann']],
  ['${NAME}${NAME}', 'annann', ['ann', 'ann']],
  ['[${EMPTY}]', '[]', []],
  ['$${NAME}', '${NAME}', []],
  ['$$${NAME}', '$${NAME}', []],
  ['${NESTED}', '${NAME}', ['${NAME}']],
  ['$NAME {tool} $ $$', '$NAME {tool} $ $$', []],
])('variables in %s become %s', (text, expanded, values) => {
  expect(expandVariables(text, env)).toEqual({ text: expanded, values, complaints: [] });
});

it('each missing variable is named, and the others are filled in', () => {
  expect(expandVariables('${A}-${NAME}-${toString}', env)).toEqual({
    text: '-ann-',
    values: ['ann'],
    complaints: [
      'the environment variable A is not set; set it or write the value here',
      'the environment variable toString is not set; set it or write the value here',
    ],
  });
});

it.each(['${', '${1X}', '${NAME:-x}', '${}'])('a reference such as %s is refused', (text) => {
  expect(expandVariables(text, env).complaints).toEqual([
    'write a variable as ${NAME}, and a literal ${ as $${',
  ]);
});
