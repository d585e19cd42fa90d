import { expect, it } from 'vitest';
import { readVariable } from '../../../../src/actors/governance/credentials/credential-entry.ts';

it.each<[string, string, string | null]>([
  ['that is set', 'SET', 'a value'],
  ['of one blank', 'BLANK', ' '],
  ['that is empty', 'EMPTY', null],
  ['that is undefined', 'UNDEFINED', null],
  ['that is missing', 'MISSING', null],
  ['that every object has', 'toString', null],
  ['that is the prototype of every object', '__proto__', null],
])('reads a variable %s', (_, name, value) => {
  const env = { SET: 'a value', BLANK: ' ', EMPTY: '', UNDEFINED: undefined };
  expect(readVariable(env, name)).toBe(value);
});
