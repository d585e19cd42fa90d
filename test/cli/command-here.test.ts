import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { holdpointHere } from './command-here.ts';
import { cleanUp, holdpoint, refundAgent } from './holdpoint.ts';

afterAll(cleanUp);

const root = join(import.meta.dirname, '../..');

it.each([
  [['--version']],
  [['--help']],
  [['tsk', '--json']],
  [['task', 'list', '--url', 'http://127.0.0.1:9']],
  [['audit', 'verify', '/nowhere/audit.ndjson']],
  [['validate', '--dir', join(root, 'examples/refunds')]],
  [['validate', '--dir', '/nowhere', '--json']],
  [['secret', 'set', 'KEY', '--dir', '/nowhere']],
])('%j prints the same in a separate process', async (args) => {
  expect(await holdpointHere(args, { input: '' })).toEqual(await holdpoint(args, { input: '' }));
});

it('a call is explained as in a separate process', async () => {
  const dir = await refundAgent();
  const args = ['policy', 'explain', 'issue_refund', '--dir', dir, '--args', '{}', '--json'];
  const [here, there] = await Promise.all([holdpointHere(args), holdpoint(args)]);
  const timeless = (text: string) => text.replaceAll(/"duration_ms":[\d.]+/g, '"duration_ms":0');
  expect({ ...here, stdout: timeless(here.stdout) }).toEqual({
    ...there,
    stdout: timeless(there.stdout),
  });
});
