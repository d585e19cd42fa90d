import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatProblem, loadConfig, readChannelFiles } from '../../../src/actors/config/config.ts';
import { runs } from '../../helpers/runs.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const botToken = 'xoxb-canary-bot';
const appToken = 'xapp-canary-app';
const telegramToken = '123456:canary-of-telegram';
const secret = 'canary-secret-of-sixteen';
const env = {
  SLACK_BOT_TOKEN: botToken,
  SLACK_APP_TOKEN: appToken,
  TELEGRAM_BOT_TOKEN: telegramToken,
  OPS_SECRET: secret,
};
const slack = { apiUrl: 'https://slack.com/api/', dashboardUrl: null, conversations: true };
const idle = { slack: null, telegram: null, webhook: null };
const untold = 'the deferral holds until a direct POST to the decisions endpoint';

/** Reads the files of an agent's folder whose `service.yaml` has its channels on line 2. */
function read(
  channels: string,
  files: Record<string, string> = {},
  variables: NodeJS.ProcessEnv = env,
  rest = '',
) {
  const directory = temporaryFolder();
  writeFileSync(join(directory, 'service.yaml'), `agent_id: x\nchannels: [${channels}]\n${rest}`);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return readIn(directory, variables);
}

function readIn(directory: string, variables: NodeJS.ProcessEnv = env) {
  const service = loadConfig(directory, variables);
  if (!service.ok) throw new Error(service.problems.map(formatProblem).join('\n'));
  const reading = readChannelFiles(directory, variables, service);
  return {
    channels: reading.channels,
    lines: [
      ...reading.problems.map((problem) => `error ${formatProblem(problem)}`),
      ...reading.warnings.map((problem) => `warning ${formatProblem(problem)}`),
    ],
  };
}

const withSlack = (text: string, variables: NodeJS.ProcessEnv = env) =>
  read('slack', { 'slack-config.yaml': text }, variables);
const withTelegram = (text: string) => read('telegram', { 'telegram-config.yaml': text });
const withWebhook = (text: string, rest = '') =>
  read('webhook', { 'webhook-config.yaml': text }, env, rest);

it('channel files are read only for listed channels', () => {
  const files = { 'slack-config.yaml': '][', 'webhook-config.yaml': '][' };
  expect(read('console', files, {})).toEqual({ channels: idle, lines: [] });
});

describe('slack', () => {
  it.each([
    ['without a file', {}],
    ['with an empty file', { 'slack-config.yaml': '' }],
    ['with only comments', { 'slack-config.yaml': '# nothing yet\n' }],
    ['with an empty section', { 'slack-config.yaml': 'adapter: slack\nsettings:\n  # none\n' }],
  ])('has defaults %s', (_, files) => {
    const { channels, lines } = read('console, slack', files);
    expect(lines).toEqual([]);
    expect(channels).toEqual({ ...idle, slack });
    expect(channels.slack?.botToken).toBe(botToken);
    expect(channels.slack?.appToken).toBe(appToken);
  });

  it('uses the settings of its file', () => {
    const text = `adapter: slack
settings:
  bot_token_env: A
  app_token_env: B
  api_url: http://127.0.0.1:99/\${PATH_OF_API}
  dashboard_url: https://desk.example/
  conversations: false
`;
    const variables = { A: ` ${botToken}\n`, B: appToken, PATH_OF_API: 'api' };
    const { channels, lines } = withSlack(text, variables);
    expect(lines).toEqual([]);
    expect(channels.slack).toEqual({
      apiUrl: 'http://127.0.0.1:99/api/',
      dashboardUrl: 'https://desk.example/',
      conversations: false,
    });
    expect(channels.slack?.botToken).toBe(botToken);
  });

  it('shows its tokens neither in JSON nor when inspected', () => {
    const { channels } = read('slack');
    expect(JSON.stringify(channels)).not.toContain('canary');
    expect(inspect(channels, { depth: 9 })).not.toContain('canary');
    expect(Object.keys(channels.slack ?? {})).toEqual(['apiUrl', 'dashboardUrl', 'conversations']);
  });

  it.each<[string, NodeJS.ProcessEnv, string]>([
    ['a token', { SLACK_BOT_TOKEN: botToken }, 'SLACK_APP_TOKEN is'],
    ['both tokens', { SLACK_APP_TOKEN: ' ' }, 'SLACK_BOT_TOKEN and SLACK_APP_TOKEN are'],
  ])('does not start without %s', (_, variables, names) => {
    const message = `${names} not set, so the slack adapter does not run; ${untold}`;
    expect(read('console, slack', {}, variables)).toEqual({
      channels: idle,
      lines: [`warning service.yaml:2:21: ${message}`],
    });
  });

  it('reports the place of an unset token variable in its file', () => {
    const text = 'settings:\n  api_url: https://slack.com/api/\n  app_token_env: MINE\n';
    expect(withSlack(text)).toEqual({
      channels: idle,
      lines: [
        `warning slack-config.yaml:3:18: MINE is not set, so the slack adapter does not run; ${untold}`,
      ],
    });
  });

  it.each<[string, NodeJS.ProcessEnv, string[]]>([
    [
      'swapped',
      { SLACK_BOT_TOKEN: appToken, SLACK_APP_TOKEN: botToken },
      ["SLACK_BOT_TOKEN and SLACK_APP_TOKEN hold each other's token; swap them"],
    ],
    [
      'of other kinds',
      { SLACK_BOT_TOKEN: 'xoxp-canary', SLACK_APP_TOKEN: 'canary' },
      [
        'SLACK_BOT_TOKEN does not hold the bot token, which begins with xoxb-; copy it from the page OAuth & Permissions of the app',
        'SLACK_APP_TOKEN does not hold the app-level token, which begins with xapp-; copy it from the page Basic Information of the app',
      ],
    ],
    [
      'unfit for a header',
      { SLACK_BOT_TOKEN: 'xoxb-canary\n1', SLACK_APP_TOKEN: appToken },
      [
        'SLACK_BOT_TOKEN does not hold the bot token, which begins with xoxb-; copy it from the page OAuth & Permissions of the app',
      ],
    ],
    [
      'of another kind next to an unset one',
      { SLACK_BOT_TOKEN: 'canary' },
      [
        'SLACK_BOT_TOKEN does not hold the bot token, which begins with xoxb-; copy it from the page OAuth & Permissions of the app',
      ],
    ],
  ])('refuses tokens that are %s, and names only the variables', (_, variables, messages) => {
    const { channels, lines } = read('slack', {}, variables);
    expect(channels).toEqual(idle);
    expect(lines.filter((line) => line.startsWith('error'))).toEqual(
      messages.map((message) => `error service.yaml:2:12: ${message}`),
    );
  });

  const bare = 'this must be the bare name of an environment variable, never the secret itself';
  const url = 'this must be an http or https URL without credentials, ? and #';
  const written =
    'this is a secret; put it into an environment variable, and set the key that ends in _env to its name';

  it.each<[string, string[]]>([
    ['adapter: telegram', ['error 1:10: adapter: this must be slack']],
    ['settings: []', ['error 1:11: settings: this must be a map of keys and values']],
    ['[]', ['error 1:1: the file must be a map of keys and values, such as settings: {}']],
    ['settings: {bot_token_env: xoxb-canary-1}', [`error 1:27: settings.bot_token_env: ${bare}`]],
    ['settings: {app_token_env: whsec_canary}', [`error 1:27: settings.app_token_env: ${bare}`]],
    [
      'settings: {bot_token_env: "${SLACK_BOT_TOKEN}"}',
      [`error 1:27: settings.bot_token_env: ${bare}`],
    ],
    [
      'settings: {bot_token: xoxb-canary-1}',
      [`error 1:23: ${written}`, 'warning 1:12: settings.bot_token: unknown key; remove it'],
    ],
    [
      'settings: {bot_token: "${SLACK_BOT_TOKEN}"}',
      [`error 1:23: ${written}`, 'warning 1:12: settings.bot_token: unknown key; remove it'],
    ],
    ['settings: {api_url: slack.com}', [`error 1:21: settings.api_url: ${url}`]],
    ['settings: {api_url: "wss://slack.com"}', [`error 1:21: settings.api_url: ${url}`]],
    ['settings: {api_url: "https://canary:x@slack.com"}', [`error 1:21: settings.api_url: ${url}`]],
    [
      'settings: {dashboard_url: "javascript:alert(1)"}',
      [`error 1:27: settings.dashboard_url: ${url}, or empty for no links`],
    ],
    [
      'settings: {conversations: 1}',
      ['error 1:27: settings.conversations: this must be true or false'],
    ],
    [
      'settings: {api_url: "http://slack.example/api"}',
      [
        'warning 1:21: anyone on the path to slack.example can read and change the traffic; use https',
      ],
    ],
    ['xoxb-canary-1: 1', ['warning 1:1: ***: unknown key; remove it']],
    ['setings: {}', ['warning 1:1: setings: unknown key; did you mean settings?']],
    [
      'settings: {conversation: false}',
      ['warning 1:12: settings.conversation: unknown key; did you mean conversations?'],
    ],
    [
      'settings: {api_url: "${NOT_SET}"}',
      ['error 1:21: the environment variable NOT_SET is not set; set it or write the value here'],
    ],
    [
      'settings: {',
      [
        'error 1:12: the file is not valid YAML: unexpected end of the stream within a flow collection',
      ],
    ],
    ['settings: {}\nsettings: {}\n', ['error 2:1: the key settings is written twice; keep one']],
  ])('reports the place of an error in its file: %s', (text, expected) => {
    const { channels, lines } = withSlack(text);
    expect(lines.map((line) => line.replace('slack-config.yaml:', ''))).toEqual(expected);
    expect(lines.join('\n')).not.toContain('canary');
    const isWrong = lines.some((line) => line.startsWith('error'));
    expect(channels.slack === null).toBe(isWrong);
  });

  it('hides a secret that could be a variable name', () => {
    const { lines } = withSlack('settings: {bot_token_env: canaryOfToken}');
    expect(lines).toEqual([
      `warning slack-config.yaml:1:27: the variable named here is not set, so the slack adapter does not run; ${untold}`,
    ]);
  });

  it('refuses a file that is too large or in another encoding, or a folder', () => {
    const directory = temporaryFolder();
    writeFileSync(join(directory, 'service.yaml'), 'agent_id: x\nchannels: [slack]\n');
    const file = join(directory, 'slack-config.yaml');
    const say = (content: Buffer) => {
      writeFileSync(file, content);
      return readIn(directory);
    };
    const refusal = (message: string) => ({
      channels: idle,
      lines: [`error slack-config.yaml:1:1: ${message}`],
    });
    expect(say(Buffer.alloc(300 * 1024, 0x61))).toEqual(
      refusal('the file is larger than 256 KiB; make it smaller'),
    );
    expect(say(Buffer.from([0x61, 0x3a, 0x20, 0xff]))).toEqual(
      refusal('slack-config.yaml is not UTF-8 text; save it as UTF-8'),
    );
    const other = temporaryFolder();
    writeFileSync(join(other, 'service.yaml'), 'agent_id: x\nchannels: [slack]\n');
    mkdirSync(join(other, 'slack-config.yaml'));
    expect(readIn(other)).toEqual(
      refusal(
        `slack-config.yaml in ${other} cannot be read (no file); check that it is a file you may read`,
      ),
    );
  });

  it('never throws and never shows a secret, for any content of its file', () => {
    const piece = fc.constantFrom(
      'settings:',
      'adapter: slack',
      '  bot_token_env: ',
      '  api_url: ',
      'xoxb-canary',
      '${SLACK_BOT_TOKEN}',
      '[',
      '{',
      '&a ',
      '*a',
      '\n',
      '\t',
      ': ',
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(piece, fc.string({ maxLength: 8 })), { maxLength: 12 }),
        (all) => {
          const { lines } = withSlack(all.join(''));
          expect(lines.join('\n')).not.toContain('canary');
        },
      ),
      { numRuns: runs(150) },
    );
  });
});

describe('telegram', () => {
  const everybody =
    'without allowed_users anyone who finds the bot can use the agent; list who may';

  it('has defaults, and warns that everyone may use it', () => {
    const { channels, lines } = read('telegram');
    expect(lines).toEqual([`warning service.yaml:2:12: ${everybody}`]);
    expect(channels).toEqual({
      ...idle,
      telegram: {
        apiUrl: 'https://api.telegram.org',
        allowedUsers: null,
        people: {},
        conversations: true,
      },
    });
    expect(channels.telegram?.token).toBe(telegramToken);
    expect(inspect(channels)).not.toContain('canary');
  });

  it('accepts ids and names of users', () => {
    const { channels, lines } = withTelegram(
      'settings:\n  api_url: https://bots.example/\n  allowed_users: [12345, "678", ann, "@Bob"]\n',
    );
    expect(lines).toEqual([]);
    expect(channels.telegram).toEqual({
      apiUrl: 'https://bots.example',
      allowedUsers: ['12345', '678', 'ann', '@Bob'],
      people: {},
      conversations: true,
    });
  });

  const user = 'this must be the id or the name of a user, such as 12345 or @ann';

  it.each<[string, string[]]>([
    [
      'settings: {allowed_users: []}',
      ['warning 1:27: this list is empty, so no one can use the bot; add the allowed users'],
    ],
    ['settings: {allowed_users: [""]}', [`error 1:28: settings.allowed_users.0: ${user}`]],
    ['settings: {allowed_users: ["*"]}', [`error 1:28: settings.allowed_users.0: ${user}`]],
    ['settings: {allowed_users: [1.5]}', [`error 1:28: settings.allowed_users.0: ${user}`]],
    [
      'settings: {allowed_user: [ann]}',
      ['error 1:12: settings.allowed_user: unknown key; did you mean allowed_users?'],
    ],
    [
      'settings: {token: "123456789:AAcanary_canary-canary_canary-canary"}',
      [
        'error 1:12: settings.token: unknown key; remove it',
        'error 1:19: this is a secret; put it into an environment variable, and set the key that ends in _env to its name',
      ],
    ],
    [
      'settings: {bot_token_env: OTHER, allowed_users: [ann]}',
      ['warning 1:27: OTHER is not set, so the telegram adapter does not run; set it'],
    ],
    [
      'settings: {bot_token_env: SLACK_BOT_TOKEN, allowed_users: [ann]}',
      [
        'error 1:27: SLACK_BOT_TOKEN does not hold the token of a bot, which is a number, a colon and letters; copy it from BotFather',
      ],
    ],
  ])('reports the place of an error in its file: %s', (text, expected) => {
    const { lines } = withTelegram(text);
    expect(lines.map((line) => line.replace('telegram-config.yaml:', ''))).toEqual(expected);
  });
});

describe('webhook', () => {
  const nowhere =
    'webhook has no targets; add webhook-config.yaml next to service.yaml, with settings: {targets: {ops: {url: ..., secret_env: ...}}}';
  const ops = '{url: "https://hooks.example/in?key=1", secret_env: OPS_SECRET}';

  it.each([
    ['without a file', {}],
    ['without targets', { 'webhook-config.yaml': 'settings: {targets: {}}' }],
  ])('is refused %s', (_, files) => {
    expect(read('slack, webhook', files)).toEqual({
      channels: { ...idle, slack },
      lines: [`error service.yaml:2:19: ${nowhere}`],
    });
  });

  it('reads its targets with their secrets, which are not shown', () => {
    const { channels, lines } = withWebhook(
      `settings:\n  dashboard_url: https://desk.example\n  targets:\n    ops: ${ops}\n`,
    );
    expect(lines).toEqual([]);
    expect(channels.webhook).toEqual({
      dashboardUrl: 'https://desk.example',
      targets: { ops: { url: 'https://hooks.example/in?key=1' } },
    });
    expect(channels.webhook?.targets['ops']?.secret).toBe(secret);
    expect(JSON.stringify(channels) + inspect(channels, { depth: 9 })).not.toContain('canary');
  });

  it('omits a target without its secret', () => {
    const { channels, lines } = withWebhook(
      `settings:\n  targets:\n    ops: ${ops}\n    desk: {url: "https://d.example", secret_env: DESK}\n`,
    );
    expect(lines).toEqual([
      `warning webhook-config.yaml:4:50: DESK is not set, so no message is posted to this target; ${untold}`,
    ]);
    expect(Object.keys(channels.webhook?.targets ?? {})).toEqual(['ops']);
  });

  it('does not start when no target has its secret', () => {
    const { channels } = withWebhook(
      'settings: {targets: {d: {url: "https://d.ex", secret_env: D}}}',
    );
    expect(channels).toEqual(idle);
  });

  it.each<[string, string]>([
    [
      '{url: "https://d.ex"}',
      'error 1:25: settings.targets.d.secret_env: this key is missing; add it',
    ],
    [
      '{url: "ftp://d.ex", secret_env: OPS_SECRET}',
      'error 1:31: settings.targets.d.url: this must be an http or https URL without credentials and #',
    ],
    [
      '{url: "http://10.0.0.1", secret_env: OPS_SECRET}',
      'warning 1:31: anyone on the path to 10.0.0.1 can read and change the traffic; use https',
    ],
    [
      '{url: "https://d.ex", secret_env: SHORT}',
      'error 1:59: the secret in SHORT must hold 16 bytes or more; make one with: openssl rand -base64 32',
    ],
    [
      '{url: "https://d.ex", secret_env: whsec_canaryCanary}',
      'error 1:59: settings.targets.d.secret_env: this must be the bare name of an environment variable, never the secret itself',
    ],
  ])('reports the place of a wrong target in its file: %s', (target, line) => {
    const text = `settings: {targets: {d: ${target}}}`;
    const { lines } = read('webhook', { 'webhook-config.yaml': text }, { ...env, SHORT: 'canary' });
    expect(lines.map((found) => found.replace('webhook-config.yaml:', ''))).toEqual([line]);
  });

  it('is refused as the target of a held call under an unknown target name', () => {
    const rest =
      'security:\n  defer:\n    enabled: true\n    default_timeout: 5m\n    tools:\n' +
      '      t: {to: "channel:webhook:opps"}\n' +
      '      u: {to: "channel:webhook:ops", escalate_to: "channel:webhook:everybody"}\n';
    expect(withWebhook(`settings: {targets: {ops: ${ops}}}`, rest).lines).toEqual([
      'error service.yaml:8:11: webhook-config.yaml has no such target; did you mean ops?',
      'error service.yaml:9:38: webhook-config.yaml has no such target; use one of ops',
    ]);
    expect(
      withWebhook(`settings: {targets: {ops: ${ops}}}`, rest.replace('true', 'false')).lines,
    ).toEqual([]);
  });
});

describe('teams', () => {
  const url = 'https://prod-1.westeurope.logic.azure.com:443/workflows/canary?sig=canary';
  const file = 'settings: {targets: {desk: {url_env: DESK_URL}}}';
  const page = 'server: {public_url: "https://agent.example.com"}\n';
  const readTeams = (value: string | undefined, text = file, rest = page) => {
    const files = text === '' ? {} : { 'teams-config.yaml': text };
    const { channels, lines } = read('teams', files, { DESK_URL: value }, rest);
    return { channels, lines: lines.map((line) => line.replace('teams-config.yaml:', '')) };
  };

  it('reads the URLs of its targets from the environment, and does not show them', () => {
    const { channels, lines } = readTeams(` ${url}\n`);
    expect(lines).toEqual([]);
    expect(channels.teams?.pageUrl).toBe('https://agent.example.com');
    expect(channels.teams?.targets['desk']?.url).toBe(url);
    expect(JSON.stringify(channels) + inspect(channels, { depth: 9 })).not.toContain('canary');
  });

  it.each<[string, string | undefined, string]>([
    [
      'no variable',
      undefined,
      `warning 1:38: DESK_URL is not set, so no card is posted to this target; ${untold}`,
    ],
    ...['http://logic.example.com/canary', 'canary', 'https://ann:canary@logic.example.com'].map(
      (value): [string, string, string] => [
        `the value ${value}`,
        value,
        'error 1:38: the value of DESK_URL is no https URL of a webhook; copy it from the workflow in Teams again',
      ],
    ),
  ])('reports %s as wrong', (_, value, line) => {
    expect(readTeams(value)).toEqual({ channels: idle, lines: [line] });
  });

  it('needs targets, those that rules name, and a page', () => {
    expect(readTeams(url, '').lines).toEqual([
      'error service.yaml:2:12: teams has no targets; add teams-config.yaml next to service.yaml, with settings: {targets: {ops: {url_env: ...}}}',
    ]);
    const rule = `${page}security:\n  defer:\n    enabled: true\n    default_timeout: 5m\n    tools:\n      t: {to: "channel:teams:dsk"}\n`;
    expect(readTeams(url, file, rule).lines).toEqual([
      'error service.yaml:9:11: teams-config.yaml has no such target; did you mean desk?',
    ]);
    expect(readTeams(url, file, '').lines).toEqual([
      'error service.yaml:2:12: a card of Teams has no page to link to; configure approvals with its public_url, or server.public_url',
    ]);
  });
});
