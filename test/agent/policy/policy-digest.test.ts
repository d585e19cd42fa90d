import { expect, it } from 'vitest';
import { parseConfig } from '../../../src/actors/config/config.ts';
import { policyDigest } from '../../../src/agent/policy/policy-digest.ts';

const hold = '{to: "channel:console:*", approvers: [ann@example.com]}';

function digestOf(...tools: string[]): string {
  const text = [
    'agent_id: a',
    'gate: {tools: {pay: {}, echo: {}}}',
    'security:',
    '  defer:',
    '    enabled: true',
    `    tools: {${tools.map((tool) => `"${tool}": ${hold}`).join(', ')}}`,
  ].join('\n');
  const loaded = parseConfig(text, { file: 'service.yaml', env: {} });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join('; '));
  return policyDigest(loaded.config, []);
}

it('the digest of a policy depends on the order of its patterns, and not of its names', () => {
  expect(digestOf('p*', '*y')).not.toBe(digestOf('*y', 'p*'));
  expect(digestOf('pay', 'echo')).toBe(digestOf('echo', 'pay'));
});
