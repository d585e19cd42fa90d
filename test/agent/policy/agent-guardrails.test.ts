import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { formatProblem } from '../../../src/actors/config/config.ts';
import { readAgent } from '../../../src/agent/start/read-agent.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

async function agentWith(guardrails: string, config = '') {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, 'skills'));
  writeFileSync(join(directory, 'service.yaml'), `agent_id: x\n${config}`);
  const skill = `---\nname: shop\nmetadata:\n  service:\n    guardrails:\n${guardrails}---\n# Shop\n`;
  writeFileSync(join(directory, 'skills', 'shop.md'), skill);
  const { problems, agent } = await readAgent(directory, {}, new ManualClock(0));
  return { problems: problems.map(formatProblem), guardrails: agent?.guardrails ?? null };
}

it.each(['', 'security: {guardrails: {enabled: false, denied_tools: [other]}}\n'])(
  'the guardrails of a skill apply with any configuration: %j',
  async (config) => {
    const { guardrails, problems } = await agentWith('      denied_tools: [pay]\n', config);
    expect(problems).toEqual([]);
    expect(guardrails?.checkCall('pay', {})).toEqual({
      denial: 'denied by guardrail: pay is a denied tool',
      findings: [{ gate: 'denied_tools', decision: 'deny', rule: 'skill shop denied_tools[0]' }],
    });
    expect(guardrails?.checkCall('other', {}).denial).toBeNull();
  },
);

it('the guardrails of a skill are added to those of the configuration', async () => {
  const config = 'security: {guardrails: {enabled: true, denied_tools: [other]}}\n';
  const { guardrails } = await agentWith('      denied_tools: [pay]\n', config);
  expect(guardrails?.checkCall('pay', {}).denial).toBe('denied by guardrail: pay is a denied tool');
  expect(guardrails?.checkCall('other', {}).denial).toBe(
    'denied by guardrail: other is a denied tool',
  );
});

it('an agent without guardrails has none', async () => {
  const { guardrails, problems } = await agentWith('      denied_tools: []\n');
  expect(problems).toEqual([]);
  expect(guardrails?.checkCall('pay', {}).denial).toBeNull();
});

it.each([
  ['      deny_commands:\n        - pattern: fine\n        - pattern: (\n', 'skills/shop.md:8:20'],
  ['      denied_tool: [pay]\n', 'skills/shop.md:6:20'],
])('malformed guardrails of a skill stop the start, with their place: %j', async (rules, place) => {
  const { problems, guardrails } = await agentWith(rules);
  expect(problems.map((line) => line.split(': ')[0])).toEqual([place]);
  expect(guardrails).toBeNull();
});

it('the MODIFY rules are those compiled by the configuration check', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const rules = 'modify: {enabled: true, tools: {datetime_now: {arguments: [{path: a, set: 1}]}}}';
  const text = `agent_id: x\nbuiltin_tools: [datetime_now]\nsecurity: {${rules}}\n`;
  writeFileSync(join(directory, 'service.yaml'), text);
  const { agent } = await readAgent(directory, {}, new ManualClock(0));
  expect(
    agent?.modify?.modifyArguments('datetime_now', { a: 2 }, [{ tool: 'datetime_now', index: 0 }]),
  ).toEqual({
    args: { a: 1 },
    applied: [1],
  });
});
