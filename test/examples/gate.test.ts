import { join } from 'node:path';
import { expect, it } from 'vitest';
import { holdpointHere } from '../cli/command-here.ts';

it('the example holds the calls of its policy tests, and every rule is tested', async () => {
  const directory = join(import.meta.dirname, '../../examples/gate');
  expect(await holdpointHere(['policy', 'test', '--dir', directory, '--coverage'])).toEqual({
    code: 0,
    signal: null,
    stdout: '11 passed, 0 failed\n',
    stderr: '',
  });
});
