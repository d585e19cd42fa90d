import { expect, it } from 'vitest';
import { missingInterpreters } from '../../../../src/actors/tools/scripts/interpreter.ts';

const definition = {
  description: '',
  parameters: {},
  idempotent: false,
  environment: [],
  skill: 'notes',
  file: 'SKILL.md',
  code: new Map<string, string>(),
};
const python = { ...definition, name: 'add_note', script: '/agent/scripts/add_note.py', line: 8 };
const shell = { ...definition, name: 'count', script: '/agent/scripts/count.sh', line: 14 };
const node = { ...definition, name: 'clear', script: '/agent/scripts/clear.mjs', line: 20 };

it('a missing interpreter is reported before the first call, with its place', () => {
  expect(missingInterpreters([python, shell, node], () => null)).toEqual([
    {
      message: 'tool add_note needs python3, which is not installed; install it',
      file: 'SKILL.md',
      line: 8,
      column: 1,
    },
    {
      message: 'tool count needs bash or sh, which is not installed; install it',
      file: 'SKILL.md',
      line: 14,
      column: 1,
    },
  ]);
});

it('a present interpreter is not reported', () => {
  expect(missingInterpreters([python, shell, node], (name) => `/usr/bin/${name}`)).toEqual([]);
});
