import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatProblem } from '../../../src/actors/config/config.ts';
import { SeenTools } from '../../../src/actors/tools/mcp/seen-tools.ts';
import { namedTools } from '../../../src/agent/policy/named-tools.ts';
import { readAgent } from '../../../src/agent/start/read-agent.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const auth = 'auth: {providers: [{type: http_verifier, settings: {url: "https://a.example"}}]}\n';

/** Reads an agent with the tool datetime_now, whose `security` begins in line 4. */
async function readingOf(security: string, env: NodeJS.ProcessEnv = {}) {
  const directory = temporaryFolder();
  const text = `agent_id: x\nbuiltin_tools: [datetime_now]\nsecurity:\n${security}${auth}`;
  writeFileSync(join(directory, 'service.yaml'), text);
  const { problems, warnings } = await readAgent(directory, env, new ManualClock(0));
  return { problems: problems.map(formatProblem), warnings: warnings.map(formatProblem) };
}

const gone = 'the agent has no tool datetime_nwo, so';
const near = 'the nearest is datetime_now';

it.each([
  [
    'defer: {default_approvers: [a@b.cd], enabled: true, tools: {datetime_nwo: {to: "channel:console:*"}}}',
    63,
    '',
  ],
  ['step_up: {enabled: true, tools: {datetime_nwo: gold}}', 36, '{acr: <acr>, '],
  ['modify: {enabled: true, tools: {datetime_nwo: {arguments: [{path: a, set: 1}]}}}', 35, ''],
])('a rule for an unknown tool is refused at its place: %s', async (rule, column, acr) => {
  const optional = acr === '' ? 'optional: true' : `${acr}optional: true}`;
  expect(await readingOf(`  ${rule}\n`)).toEqual({
    problems: [
      `service.yaml:4:${column}: ${gone} this rule has no effect; ${near}; write ${optional} for a tool that comes later`,
    ],
    warnings: [],
  });
});

it('credentials for an unknown tool are refused', async () => {
  const entry = '{tool: datetime_nwo, provider: static, spec: {env: {KEY: {from_env: PATH}}}}';
  expect(await readingOf(`  {}\ncredentials: [${entry}]\n`, { PATH: '/usr/bin' })).toEqual({
    problems: [
      `service.yaml:5:16: ${gone} it is never used; ${near}; write optional: true for a tool that comes later`,
    ],
    warnings: [],
  });
});

it('a denial of an unknown tool causes a warning', async () => {
  expect(await readingOf('  guardrails: {enabled: true, denied_tools: [datetime_nwo]}\n')).toEqual({
    problems: [],
    warnings: [
      `service.yaml:4:46: ${gone} this rule has no effect; ${near}; write {tool: datetime_nwo, optional: true} for a tool that comes later`,
    ],
  });
});

it('rules that name tools in either spelling, that may come later, or that are off cause no warning', async () => {
  const entry = '{provider: static, spec: {env: {KEY: {from_env: PATH}}}';
  expect(
    await readingOf(
      `  defer:
    enabled: true
    default_approvers: [ann@example.com]
    tools: {datetime-now: {to: "channel:console:*"}, later: {to: "channel:console:*", optional: true}}
  step_up: {enabled: true, tools: {datetime-now: gold, later: {acr: gold, optional: true}}}
  modify: {tools: {never: {output: []}}, enabled: false}
  guardrails: {enabled: true, denied_tools: [datetime-now, {tool: never, optional: true}]}
credentials: [${entry}, tool: datetime-now}, ${entry}, tool: later, optional: true}]\n`,
      { PATH: '/usr/bin' },
    ),
  ).toEqual({ problems: [], warnings: [] });
});

/** Reads an agent with the MCP server files, whose tools are known as far as `offered` has them. */
async function withServer(rules: string, offered: string[] | null) {
  const directory = temporaryFolder();
  const server = '{name: files, command: node, tools: {deny: [drop]}}';
  const text = `agent_id: x\nmcp: {servers: [${server}]}\nsecurity:\n  ${rules}\n`;
  writeFileSync(join(directory, 'service.yaml'), text);
  if (offered !== null) {
    const tools = offered.map((name) => ({ name, description: '', parameters: {}, sha256: name }));
    new SeenTools(directory).check('files', tools, () => true);
  }
  const { problems, warnings, agent } = await readAgent(directory, {}, new ManualClock(0));
  return {
    problems: problems.map(formatProblem),
    warnings: warnings.map(formatProblem),
    tools: agent === null ? [] : namedTools(agent.config, agent.toolbox, agent.seen),
  };
}

it.each(['', ', optional: true'])(
  'a rule for a tool that an MCP server did not offer causes a warning with the nearest one%s',
  async (more) => {
    const rule = `defer: {enabled: true, tools: {files__wirte: {to: "channel:console:*"${more}}}}`;
    expect(await withServer(rule, ['write', 'read', 'drop'])).toEqual({
      problems: [],
      warnings: [
        'service.yaml:4:34: the MCP server files offered no tool files__wirte when the agent reached it last, so this rule has no effect; the nearest is files__write',
      ],
      tools: ['files__write', 'files__read'],
    });
  },
);

it('a rule for an offered tool of an MCP server is accepted, in either spelling', async () => {
  const rule = 'defer: {enabled: true, tools: {files--write: {to: "channel:console:*"}}}';
  expect(await withServer(rule, ['write'])).toMatchObject({ problems: [], warnings: [] });
});

it('a rule is checked later while the tools of its server are unknown', async () => {
  const rule = 'step_up: {enabled: true, tools: {files__write: gold}}';
  expect(await withServer(`${rule}\n${auth}`, null)).toEqual({
    problems: [],
    warnings: [
      'service.yaml:4:36: the tools of the MCP server files are not known yet, so the rule for files__write is checked when the agent has reached it',
    ],
    tools: [],
  });
});

it('the files of the channels are read, with their errors', async () => {
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
    telegram: {
      apiUrl: 'https://api.telegram.org',
      allowedUsers: ['ann'],
      people: {},
      conversations: true,
    },
    webhook: null,
  });
  write('slack-config.yaml', 'adapter: slack\nsettings: {conversation: true, api_url: slack}\n');
  const bad = await readAgent(directory, env, new ManualClock(0));
  expect(bad.problems.map(formatProblem)).toEqual([
    'slack-config.yaml:2:41: settings.api_url: this must be an http or https URL without credentials, ? and #',
  ]);
  expect(bad.warnings.map(formatProblem)).toEqual([
    'slack-config.yaml:2:12: settings.conversation: unknown key; did you mean conversations?',
  ]);
});

it('no tool may write the code of an MCP server', async () => {
  const directory = temporaryFolder();
  mkdirSync(join(directory, 'shop'));
  writeFileSync(join(directory, 'shop/server.js'), '');
  writeFileSync(join(directory, 'near.js'), '');
  const tools = { deny: [] };
  const server = (name: string, file: string) => ({ name, command: 'node', args: [file], tools });
  const servers = [server('shop', 'shop/server.js'), server('near', 'near.js')];
  const egress = { writable: ['shop', 'work'] };
  const service = { agent_id: 'x', mcp: { servers }, egress };
  writeFileSync(join(directory, 'service.yaml'), JSON.stringify(service));
  const { problems } = await readAgent(directory, {}, new ManualClock(0));
  expect(problems.map(({ message }) => message)).toEqual([
    'scripts may not write shop/server.js; name a folder apart from it',
  ]);
});

it('no script may write the approvers file, also through a link', async () => {
  const directory = temporaryFolder();
  mkdirSync(join(directory, 'work'));
  writeFileSync(join(directory, 'work/people.yaml'), 'groups: {}');
  symlinkSync('work/people.yaml', join(directory, 'people.yaml'));
  const service = {
    agent_id: 'x',
    model: { provider: 'scripted' },
    egress: { writable: ['work'] },
  };
  writeFileSync(join(directory, 'service.yaml'), JSON.stringify(service));
  const { problems } = await readAgent(directory, {}, new ManualClock(0));
  expect(problems.map(({ message }) => message)).toEqual([
    'scripts may not write people.yaml; name a folder apart from it',
  ]);
});
