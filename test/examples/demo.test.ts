import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { holdpointHere } from '../cli/command-here.ts';
import { temporaryFolder } from '../helpers/test-system.ts';

const demo = join(import.meta.dirname, '../../examples/demo');

it.each([
  ['ops', 0, ''],
  ['support', 0, ''],
  ['billing', 5, 'BILLING_MODEL is not set'],
])('the demo has the agent %s, whose validation exits with %i', async (agent, expected, reason) => {
  const { code, stderr } = await holdpointHere(['validate', '--dir', join(demo, agent)]);
  expect([code, stderr]).toEqual([expected, expect.stringContaining(reason)]);
});

it('the demo has refunds that the policy of the refund agent holds', async () => {
  const story: { agent: string; text: string; script?: object[] }[] = JSON.parse(
    readFileSync(join(demo, 'story.json'), 'utf8'),
  );
  const rows = story
    .filter(({ agent }) => agent === 'refunds')
    .flatMap(({ text, script = [] }) =>
      script.flatMap((step) =>
        'tool' in step && step.tool === 'issue_refund'
          ? [{ name: text, ...step, expect: { decision: 'defer' } }]
          : [],
      ),
    );
  const table = join(temporaryFolder(), 'story.yaml');
  writeFileSync(table, JSON.stringify(rows));
  const { stdout } = await holdpointHere([
    'policy',
    'test',
    table,
    '--dir',
    join(demo, '../refunds'),
  ]);
  expect(stdout).toBe('2 passed, 0 failed\n');
});
