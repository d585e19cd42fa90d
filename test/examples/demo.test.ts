import { join } from 'node:path';
import { expect, it } from 'vitest';
import { holdpointHere } from '../cli/command-here.ts';

const demo = join(import.meta.dirname, '../../examples/demo');

it.each([
  ['ops', 0, ''],
  ['support', 0, ''],
  ['billing', 5, 'BILLING_MODEL is not set'],
])('has the agent %s, whose validation ends in %i', async (agent, expected, reason) => {
  const { code, stderr } = await holdpointHere(['validate', '--dir', join(demo, agent)]);
  expect([code, stderr]).toEqual([expected, expect.stringContaining(reason)]);
});
