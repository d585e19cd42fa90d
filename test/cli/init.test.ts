import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { holdpointHere } from './command-here.ts';
import { cleanUp, holdpoint, startDaemon, temporaryFolder } from './holdpoint.ts';
import { onTerminal, printed } from './terminal.ts';

afterAll(cleanUp);

it('init creates from flags a valid agent that answers, and replaces nothing', async () => {
  const directory = join(await temporaryFolder(), 'desk');
  const words = [
    'init',
    'refund-desk',
    '--dir',
    directory,
    '--tools',
    'datetime_now,uuid_generate',
  ];
  const made = await holdpointHere([...words, '--held', 'uuid_generate', '--yes', '--json']);
  const path = join(directory, 'service.yaml');
  const schema = join(directory, '.service', 'service.schema.json');
  const files = [path, join(directory, '.gitignore'), schema];
  expect({ code: made.code, told: JSON.parse(made.stdout) as unknown }).toEqual({
    code: 0,
    told: { agent_id: 'refund-desk', directory, files },
  });
  expect(made.stderr).toBe(`run it with: holdpoint run --dir ${directory}
add your first tool: holdpoint tool new cancel_order --python --arg order_id --held --dir ${directory}
add an MCP server: holdpoint mcp add files --dir ${directory} -- node server.mjs
`);
  const valid = await holdpointHere(['validate', '--dir', directory]);
  expect(valid.stdout).toContain('held   uuid_generate');
  expect(valid.stderr).toBe('');
  const daemon = await startDaemon(directory);
  const sent = await holdpointHere(['task', 'send', 'hello', '--dir', directory]);
  expect(sent.stdout).toContain('echo: hello');
  await daemon.stop();
  const before = readFileSync(path, 'utf8');
  expect(await holdpointHere([...words, '--yes'])).toMatchObject({
    code: 2,
    stderr: `error: ${path} is already there; name a folder without an agent with --dir\n`,
  });
  expect(readFileSync(path, 'utf8')).toBe(before);
});

it('init names the schema in the first line, which new tools and servers keep', async () => {
  const directory = join(await temporaryFolder(), 'desk');
  const dir = ['--dir', directory];
  const beginning = () => readFileSync(join(directory, 'service.yaml'), 'utf8').split('\n')[0];
  expect((await holdpointHere(['init', 'desk', ...dir, '--yes'])).code).toBe(0);
  const [, path = ''] = /\$schema=(\S+)$/.exec(beginning() ?? '') ?? [];
  expect(readFileSync(join(directory, path), 'utf8')).toBe(
    (await holdpointHere(['schema'])).stdout,
  );
  const before = beginning();
  const tool = ['tool', 'new', 'cancel_order', '--python', '--arg', 'order_id', '--held', ...dir];
  expect((await holdpointHere(tool)).code).toBe(0);
  const server = ['mcp', 'add', 'files', ...dir, '--held', 'write', '--', 'node', 'server.mjs'];
  expect((await holdpointHere(server)).code).toBe(0);
  expect(beginning()).toBe(before);
});

it('init creates a gate that holds calls, and replaces nothing', async () => {
  const directory = join(await temporaryFolder(), 'gate');
  const words = ['init', 'coding-agents', '--gate', '--dir', directory];
  const path = join(directory, 'service.yaml');
  expect(await holdpointHere(words)).toEqual({
    code: 0,
    signal: null,
    stdout: `${[path, join(directory, '.gitignore'), join(directory, '.service/service.schema.json')].map((file) => `wrote ${file}`).join('\n')}\n`,
    stderr: `run it with: holdpoint run --dir ${directory}
then send calls to POST /holds; holdpoint docs gate shows how
`,
  });
  expect((await holdpointHere(['validate', '--dir', directory])).code).toBe(0);
  const before = readFileSync(path, 'utf8');
  const chosen = join(await temporaryFolder(), 'chosen');
  const choice = ['init', 'coding-agents', '--provider', 'gate', '--dir', chosen, '--yes'];
  expect(await holdpointHere(choice)).toMatchObject({
    code: 0,
    stderr: `run it with: holdpoint run --dir ${chosen}\nthen send calls to POST /holds; holdpoint docs gate shows how\n`,
  });
  expect(readFileSync(join(chosen, 'service.yaml'), 'utf8')).toBe(before);
  expect((await holdpointHere(words)).code).toBe(2);
  expect(readFileSync(path, 'utf8')).toBe(before);
  const bad = ['init', 'My Gate', '--gate', '--dir', join(directory, 'other')];
  expect((await holdpointHere(bad)).stderr).toContain('the agent id must be kebab-case');
});

it('init quotes text that YAML would read differently', async () => {
  const directory = await temporaryFolder();
  writeFileSync(join(directory, '.gitignore'), 'mine\n');
  const model = 'a: [b] # c\n${SHOP}';
  const flags = ['--provider', 'ollama', '--model', model, '--dir', directory, '--tools', ''];
  expect((await holdpointHere(['init', '1e3', ...flags, '--yes'])).code).toBe(0);
  expect(readFileSync(join(directory, '.gitignore'), 'utf8')).toBe('mine\n');
  const { stderr } = await holdpointHere(['validate', '--dir', directory]);
  expect(stderr).not.toMatch(/agent_id|SHOP/);
});

it.each([
  [['init', '--yes'], 'the name is at most 64', 'give the name, such as in init refund-desk'],
  [['init', '--no-input'], 'the name is at most 64', 'give the name, such as in init refund-desk'],
  [['init', '../x'], 'the name is at most 64', 'give the name'],
  [['init', 'x', '--channels', 'irc'], 'irc is not a channel', 'give --channels'],
  [
    ['init', 'x', '--channels', 'webhook'],
    'Name of the receiver is missing',
    'give --channel-setting',
  ],
  [['init', 'x', '--tools', 'cli_execute'], 'list the programs', 'give --commands'],
  [['init', 'x', '--search', 'bing'], 'bing is not a search service', 'give --search'],
  [['init', 'x', '--skills', 'none'], 'none is not a skill of the registry', 'give --skills'],
  [['init', 'x', '--auth', 'oidc'], 'Issuer is missing', 'give --auth-setting'],
  [['init', 'x', '--auth', 'vax'], 'vax is not a way to sign in', 'give --auth'],
  [['init', 'x', '--egress', 'open'], 'open is not a mode of egress', 'give --egress'],
  [['init', 'x', '--allow', '10.0.0.1'], 'this is no host name', 'give --allow'],
  [
    ['init', 'x', '--held', 'datetime_now', '--to', 'channel:slack:#a'],
    'no channel slack',
    'give --to',
  ],
  [['init', 'x', '--held', 'datetime_now', '--quorum', '2'], 'a quorum of 2', 'give --quorum'],
  [
    ['init', 'x', '--held', 'datetime_now', '--timeout', '5'],
    'a duration needs a unit',
    'give --timeout',
  ],
  [['init', 'x', '--variables', '/nowhere'], '/nowhere cannot be read', 'give --variables'],
  [['init', 'x', '--answers', '/dev/null'], '/dev/null holds no JSON', 'give --answers'],
  [['init', 'x', '--provider', 'vax'], 'vax is not a provider', 'give --provider'],
  [['init', 'x', '--provider', 'openai'], 'name a model of openai', 'give --model'],
  [
    ['init', 'x', '--held', 'http_request'],
    'http_request is not a tool of this agent',
    'give --held',
  ],
])('init reports a missing or wrong flag, and writes nothing', async (words, message, hint) => {
  const cwd = await temporaryFolder();
  const { code, stderr } = await holdpoint(words, { cwd });
  expect({ code, files: readdirSync(cwd) }).toEqual({ code: 2, files: [] });
  expect(stderr).toContain(message);
  expect(stderr).toContain(hint);
});

it('init asks at a terminal for missing flags, one question after another', async () => {
  const directory = join(await temporaryFolder(), 'desk');
  const asked = onTerminal(['init', '--dir', directory]);
  const [space, down] = [' ', '\u001B[B'];
  for (const [question, keys] of [
    ['Name of the agent', 'The/Desk'],
    ['the name is at most 64 letters', '\u007F'.repeat(8) + 'Desk'],
    ['Which model provider?', ''],
    ['Which channels for chat', ''],
    ['Which tools?', space + down + space],
    ['Which skills?', ''],
    ['How do callers authenticate?', ''],
    ['Hosts derived from your answers: no host at all', ''],
    ['Additional hosts?', 'api.example.com'],
    ['Name of an additional variable', ''],
    ['Passphrase to encrypt its secrets', ''],
    ['Which tools require approval?', space],
    ['Approval target of uuid_generate?', ''],
    ['Approval timeout?', ''],
    ['Approvals needed?', ''],
    ['Emails of approvers', ''],
    ['desk: scripted, tools uuid_generate, held uuid_generate', ''],
  ] as const) {
    await printed(asked, question);
    asked.child.stdin?.write(`${keys}\r`);
  }
  await printed(asked, 'service.yaml');
  asked.child.stdin?.end();
  expect((await asked.ended).code).toBe(0);
  const valid = await holdpointHere(['validate', '--dir', directory]);
  expect(valid.stdout).toContain('held   uuid_generate');
  expect(parse(readFileSync(join(directory, 'service.yaml'), 'utf8'))).toEqual({
    ...{ agent_id: 'desk', version: '0.1.0', description: 'The agent desk' },
    audit: { sign: true },
    model: { provider: 'scripted' },
    builtin_tools: ['uuid_generate'],
    egress: { allowed_domains: ['api.example.com'] },
    security: {
      defer: {
        enabled: true,
        tools: { uuid_generate: { to: 'channel:console:*', timeout: '5m' } },
      },
    },
  });
});

const answers = {
  name: 'Refund Desk',
  provider: 'openai-compatible',
  model: { name: 'm: x', address: 'http://127.0.0.1:9/v1', key: 'sk-CANARY-1' },
  channels: {
    slack: { bot_token: 'xoxb-CANARY-2', app_token: 'xapp-CANARY-3' },
    telegram: { allowed_users: '12345, @ann' },
    webhook: { target: 'ops', url: 'https://ops.example.com/a', secret: 'CANARY-4-of-sixteen' },
  },
  tools: {
    names: ['web_search', 'cli_execute'],
    search: 'perplexity',
    key: 'CANARY-5',
    commands: ['jq'],
  },
  fallback: [{ provider: 'google', name: 'gemini-2.5-pro', key: 'CANARY-6' }],
  auth: {
    mode: 'oidc',
    settings: {
      issuer: 'https://id.example.com',
      audience: 'refunds',
      claim_map: { user_id: 'oid' },
    },
  },
  egress: { hosts: ['api.example.com'] },
  security: { variables: { SHOP_KEY: "it's CANARY-7 ${HOME} # \\n" } },
  approvals: {
    cli_execute: {
      ...{ to: 'channel:slack:#ops', timeout: '90s', quorum: 2 },
      approvers: ['ann@example.com', 'bob@example.com'],
    },
  },
};

const variables = {
  MODEL_API_KEY: 'sk-CANARY-1',
  SLACK_BOT_TOKEN: 'xoxb-CANARY-2',
  SLACK_APP_TOKEN: 'xapp-CANARY-3',
  WEBHOOK_SECRET: 'CANARY-4-of-sixteen',
  PERPLEXITY_API_KEY: 'CANARY-5',
  GOOGLE_GENERATIVE_AI_API_KEY: 'CANARY-6',
  SHOP_KEY: "it's CANARY-7 ${HOME} # \\n",
};

it('init creates a complete agent from an answers file, and shows no secret', async () => {
  const directory = join(await temporaryFolder(), 'desk');
  const words = ['init', '--answers', '-', '--dir', directory, '--yes', '--debug'];
  const made = await holdpointHere(words, { input: JSON.stringify(answers) });
  expect(made.code).toBe(0);
  expect(made.stdout + made.stderr).not.toContain('CANARY');
  const read = (name: string) => readFileSync(join(directory, name), 'utf8');
  expect(parse(read('service.yaml'))).toEqual({
    ...{ agent_id: 'refund-desk', version: '0.1.0', description: 'The agent refund-desk' },
    audit: { sign: true },
    model: {
      ...{ provider: 'openai-compatible', name: 'm: x', base_url: 'http://127.0.0.1:9/v1' },
      api_key_env: 'MODEL_API_KEY',
      fallbacks: [{ provider: 'google', name: 'gemini-2.5-pro' }],
    },
    instructions: 'You are a helpful agent. Answer in a few sentences.',
    builtin_tools: ['web_search', 'cli_execute'],
    tools: [
      { name: 'web_search', config: { provider: 'perplexity' } },
      { name: 'cli_execute', config: { commands: ['jq'] } },
    ],
    channels: ['slack', 'telegram', 'webhook'],
    egress: { allowed_domains: ['api.example.com'] },
    auth: { providers: [{ type: 'oidc', settings: answers.auth.settings }] },
    security: { defer: { enabled: true, tools: answers.approvals } },
  });
  expect(parse(read('telegram-config.yaml'))).toEqual({
    adapter: 'telegram',
    settings: { allowed_users: ['12345', '@ann'] },
  });
  expect(parse(read('webhook-config.yaml'))).toEqual({
    adapter: 'webhook',
    settings: {
      targets: { ops: { url: 'https://ops.example.com/a', secret_env: 'WEBHOOK_SECRET' } },
    },
  });
  const env = join(directory, '.service', '.env');
  expect(parseEnv(readFileSync(env, 'utf8'))).toEqual(variables);
  expect([statSync(env).mode & 0o777, statSync(dirname(env)).mode & 0o777]).toEqual([0o600, 0o700]);
  const valid = await holdpointHere(['validate', '--dir', directory]);
  expect(valid).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('held   cli_execute') as string,
  });
});

it('init holds the tools that a skill wants held, unless the answers file differs', async () => {
  const directory = await temporaryFolder();
  const skills = { names: ['stripe-refunds'], variables: { STRIPE_API_KEY: 'rk_1' } };
  const securityOf = async (name: string, said: object) => {
    const words = ['init', '--answers', '-', '--dir', join(directory, name), '--yes'];
    const input = JSON.stringify({ name, skills, ...said });
    expect((await holdpointHere(words, { input })).code).toBe(0);
    const service = parse(readFileSync(join(directory, name, 'service.yaml'), 'utf8')) as object;
    return 'security' in service ? service.security : undefined;
  };
  const held = { refund_payment: { to: 'channel:console:*', timeout: '5m' } };
  expect(await securityOf('held', {})).toEqual({ defer: { enabled: true, tools: held } });
  expect(await securityOf('free', { approvals: {} })).toBeUndefined();
});

it('init encrypts every secret with a passphrase, and names unset variables', async () => {
  const directory = join(await temporaryFolder(), 'desk');
  const env = { SERVICE_PASSPHRASE: 'a long passphrase' };
  const flags = [
    '--provider',
    'openai',
    '--model',
    'gpt-5',
    '--fallback',
    'anthropic/claude-haiku-4-5',
  ];
  const words = ['init', 'desk', '--dir', directory, ...flags, '--variables', '-', '--yes'];
  const made = await holdpointHere(words, { env, input: 'ANTHROPIC_API_KEY=sk-CANARY\n' });
  expect(made.stderr).toContain('set OPENAI_API_KEY before you run it');
  expect(readdirSync(join(directory, '.service'))).toEqual([
    'secrets.enc',
    'secrets.enc.lock',
    'service.schema.json',
  ]);
  expect(readFileSync(join(directory, '.service', 'secrets.enc'), 'utf8')).not.toContain('CANARY');
  const kept = await holdpointHere(['secret', 'get', 'ANTHROPIC_API_KEY', '--dir', directory], {
    env,
  });
  expect(kept.stdout).toBe('sk-CANARY\n');
});

it('init writes the model address from the environment, and names its variable', async () => {
  const directory = join(await temporaryFolder(), 'desk');
  const env = {
    OPENAI_API_KEY: 'sk-CANARY',
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1/',
    ANTHROPIC_BASE_URL: 'https://gw.example.com',
  };
  const flags = ['--provider', 'openai', '--model', 'gpt-5'];
  const fallback = ['--fallback', 'anthropic/claude-haiku-4-5'];
  const words = ['init', 'desk', '--dir', directory, ...flags, ...fallback, '--yes'];
  const { code, stderr } = await holdpointHere(words, { env });
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining('its model is asked at http://127.0.0.1:9/v1 (OPENAI_BASE_URL)'),
  ]);
  const { model } = parse(readFileSync(join(directory, 'service.yaml'), 'utf8')) as {
    model: object;
  };
  expect(model).toEqual({
    ...{ provider: 'openai', name: 'gpt-5', base_url: 'http://127.0.0.1:9/v1' },
    fallbacks: [
      {
        ...{ provider: 'anthropic', name: 'claude-haiku-4-5' },
        base_url: 'https://gw.example.com/v1',
      },
    ],
  });
});

it('init creates no agent that would send a key to a host without a variable', async () => {
  const cwd = await temporaryFolder();
  const env = { OPENAI_API_KEY: 'sk-CANARY', OPENAI_BASE_URL: 'gateway' };
  const words = ['init', 'desk', '--provider', 'openai', '--model', 'gpt-5', '--yes'];
  const { code, stderr } = await holdpoint(words, { cwd, env });
  expect({ code, files: readdirSync(cwd) }).toEqual({ code: 2, files: [] });
  expect(stderr).toContain('OPENAI_BASE_URL is no address');
});

it('init suggests the provider whose key is in the environment, at its address there', async () => {
  const directory = join(await temporaryFolder(), 'desk');
  const env = { ANTHROPIC_API_KEY: 'sk-CANARY', ANTHROPIC_BASE_URL: 'https://gw.example.com/v1' };
  const asked = onTerminal(['init', 'desk', '--dir', directory, '--fallback', 'ollama/a'], env);
  for (const question of ['Which model provider', 'Which model?', 'Address', 'Key (empty']) {
    await printed(asked, question);
    asked.child.stdin?.write('\r');
  }
  for (const question of [
    'Which channels',
    'Which tools',
    'Which skills',
    'How do callers',
    'Hosts derived from',
    'Additional hosts',
    'Name of an additional',
    'Passphrase to',
    'Which tools require',
    'desk: anthropic claude-sonnet-4-5',
  ]) {
    await printed(asked, question);
    asked.child.stdin?.write('\r');
  }
  await printed(asked, 'run it with');
  asked.child.stdin?.end();
  expect((await asked.ended).code).toBe(0);
  const service = parse(readFileSync(join(directory, 'service.yaml'), 'utf8')) as { model: object };
  expect(service.model).toMatchObject({
    ...{ provider: 'anthropic', name: 'claude-sonnet-4-5', base_url: 'https://gw.example.com/v1' },
  });
});

it('init leaves no files when the new agent would be invalid', async () => {
  const cwd = await temporaryFolder();
  // A name that only the reader of the whole configuration finds fault with.
  const lines = Array.from(
    { length: 200 },
    (_, index) => `${'a'.repeat(60)}.`.repeat(3) + `h${index}.example`,
  );
  const approvers = Array.from(
    { length: 200 },
    (_, index) => `${'a'.repeat(200)}${index}@example.com`,
  );
  const approvals = Object.fromEntries(
    [
      'datetime_now',
      'uuid_generate',
      'math_calculate',
      'json_query',
      'csv_parse',
      'glob_search',
    ].map((tool) => [tool, { approvers }]),
  );
  const tools = { names: Object.keys(approvals) };
  const large = { name: 'big', tools, egress: { hosts: lines }, approvals };
  const { code, stderr } = await holdpoint(['init', '--answers', '-', '--yes'], {
    cwd,
    input: JSON.stringify(large),
  });
  expect({ code, files: readdirSync(cwd) }).toEqual({ code: 1, files: [] });
  expect(stderr).toContain('the agent would not start');
});
