import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readAgent } from '../../../src/actors/agent/read-agent.ts';
import { formatProblem } from '../../../src/actors/config/config.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

async function warningsOf(security: string): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const text = `agent_id: x\nbuiltin_tools: [datetime_now]\nsecurity:\n${security}`;
  writeFileSync(join(directory, 'service.yaml'), text);
  const { problems, warnings } = await readAgent(directory, {}, new ManualClock(0));
  expect(problems).toEqual([]);
  return warnings.map(formatProblem);
}

const hint =
  'the agent has no tool datetime_nwo, so this rule holds nothing back; the nearest is datetime_now';

it.each([
  ['defer: {enabled: true, tools: {datetime_nwo: {to: "channel:console:*"}}}', 34],
  ['step_up: {enabled: true, tools: {datetime_nwo: gold}}', 36],
])('warns of a rule for a tool that does not exist, where it stands: %s', async (rule, column) => {
  expect(await warningsOf(`  ${rule}\n`)).toEqual([`service.yaml:4:${column}: ${hint}`]);
});

it('says nothing of rules that name tools, or that are off', async () => {
  expect(
    await warningsOf(`  defer: {enabled: true, tools: {datetime_now: {to: "channel:console:*"}}}
  step_up: {enabled: true, tools: {datetime_now: gold}}\n`),
  ).toEqual([]);
});
