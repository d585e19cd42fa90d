import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readAgent } from '../../../src/actors/agent/read-agent.ts';
import { formatProblem } from '../../../src/actors/config/config.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

async function warningsOf(security: string, env: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const directory = temporaryFolder();
  const text = `agent_id: x\nbuiltin_tools: [datetime_now]\nsecurity:\n${security}`;
  writeFileSync(join(directory, 'service.yaml'), text);
  const { problems, warnings } = await readAgent(directory, env, new ManualClock(0));
  expect(problems).toEqual([]);
  return warnings.map(formatProblem);
}

const hint =
  'the agent has no tool datetime_nwo, so this rule holds nothing back; the nearest is datetime_now';

it.each([
  ['defer: {enabled: true, tools: {datetime_nwo: {to: "channel:console:*"}}}', 34],
  ['step_up: {enabled: true, tools: {datetime_nwo: gold}}', 36],
  ['modify: {enabled: true, tools: {datetime_nwo: {arguments: [{path: a, set: 1}]}}}', 35],
  ['guardrails: {enabled: true, denied_tools: [datetime_nwo]}', 46],
])('warns of a rule for a tool that does not exist, where it stands: %s', async (rule, column) => {
  expect(await warningsOf(`  ${rule}\n`)).toEqual([`service.yaml:4:${column}: ${hint}`]);
});

it('says nothing of rules that name tools, or that are off', async () => {
  expect(
    await warningsOf(`  defer: {enabled: true, tools: {datetime_now: {to: "channel:console:*"}}}
  step_up: {enabled: true, tools: {datetime_now: gold}}
  guardrails: {enabled: true, denied_tools: [datetime-now]}\n`),
  ).toEqual([]);
});

it('warns of credentials for a tool that does not exist', async () => {
  const entry = '{tool: datetime_nwo, provider: static, spec: {env: {KEY: {from_env: PATH}}}}';
  const [warning] = await warningsOf(`  {}\ncredentials: [${entry}]\n`, { PATH: '/usr/bin' });
  expect(warning).toBe(
    'service.yaml:5:16: the agent has no tool datetime_nwo, so nothing is ever signed in with it; the nearest is datetime_now',
  );
});

it('reads the files of the channels, and says what is wrong in them', async () => {
  const directory = temporaryFolder();
  const write = (file: string, text: string) => writeFileSync(join(directory, file), text);
  write('service.yaml', 'agent_id: x\nchannels: [slack, telegram]\n');
  write('telegram-config.yaml', 'settings: {allowed_users: [ann]}\n');
  const env = {
    SLACK_BOT_TOKEN: 'xoxb-1',
    SLACK_APP_TOKEN: 'xapp-1',
    TELEGRAM_BOT_TOKEN: '1:abc',
  };
  const good = await readAgent(directory, env, new ManualClock(0));
  expect(good.problems).toEqual([]);
  expect(good.warnings).toEqual([]);
  expect(good.agent?.channels).toEqual({
    slack: { apiUrl: 'https://slack.com/api/', dashboardUrl: null, conversations: true },
    telegram: { apiUrl: 'https://api.telegram.org', allowedUsers: ['ann'] },
    webhook: null,
  });
  write('slack-config.yaml', 'adapter: slack\nsettings: {conversation: true, api_url: slack}\n');
  const bad = await readAgent(directory, env, new ManualClock(0));
  expect(bad.problems.map(formatProblem)).toEqual([
    'slack-config.yaml:2:41: settings.api_url: this must be an http or https URL without credentials, ? and #',
  ]);
  expect(bad.warnings.map(formatProblem)).toEqual([
    'slack-config.yaml:2:12: settings.conversation: this key is not known; did you mean conversations?',
  ]);
});
