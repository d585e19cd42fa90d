import { expect, it, onTestFinished } from 'vitest';
import { FakeSlack, type FakeSlackOptions } from '../../../../../packages/fake-slack/fake-slack.ts';
import { fakeChannel, usualChannels } from '../../../../../packages/fake-slack/workspace/people.ts';
import { ChannelDirectory } from '../../../../../src/actors/channels/slack/link/channel-directory.ts';
import { createSlackClient } from '../../../../../src/actors/channels/slack/link/slack-client.ts';
import {
  checkSlackSetup,
  type SetupFinding,
} from '../../../../../src/actors/channels/slack/setup/check-setup.ts';
import { systemClock } from '../../../../../src/actors/system-clock.ts';
import { botScopes } from '../../../../../src/cli/slack/print-manifest.ts';

/** What a test checks; the app-level token is tried only with `appToken`. */
interface Wanted {
  targets?: string[];
  approvers?: string[];
  groups?: string[];
  conversations?: boolean;
  botToken?: string;
  appToken?: string;
}

async function fakeSlack(options: FakeSlackOptions = {}): Promise<FakeSlack> {
  const slack = await FakeSlack.start(options);
  onTestFinished(() => slack.close());
  return slack;
}

async function check(slack: FakeSlack, wanted: Wanted = {}): Promise<SetupFinding[]> {
  const { targets = [], approvers = [], groups = [], conversations = true } = wanted;
  const { botToken, appToken } = wanted;
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const client = (token: string) =>
    createSlackClient({ token, apiUrl: slack.apiUrl, fetch: globalThis.fetch, log: silent });
  const web = client(botToken ?? slack.botToken);
  const directory = new ChannelDirectory({ web, clock: systemClock() });
  const app = appToken === undefined ? {} : { app: client(appToken) };
  return checkSlackSetup({ web, targets, approvers, groups, conversations, directory, ...app });
}

const bot: SetupFinding = {
  severity: 'ok',
  subject: 'bot token',
  message: 'the bot is U0HOLDPNT1 in T0HOLDPNT1',
};

const install =
  'add it to the bot token scopes on the page OAuth & Permissions, and install the app again';

it('the check of a complete set-up reports nothing, and posts nothing', async () => {
  const slack = await fakeSlack();
  const targets = ['#refunds', 'finance', 'C0GENERAL1'];
  const approvers = ['ann@example.com', 'bob@example.com'];
  expect(await check(slack, { targets, approvers, appToken: slack.appToken })).toEqual([
    bot,
    { severity: 'ok', subject: '#refunds', message: 'the bot is in #refunds' },
    { severity: 'ok', subject: 'finance', message: 'the bot is in finance' },
    { severity: 'ok', subject: 'C0GENERAL1', message: 'the bot is in C0GENERAL1' },
    { severity: 'ok', subject: 'app token', message: 'the app may connect' },
  ]);
  expect(slack.calls.filter(({ method }) => method.startsWith('chat.'))).toEqual([]);
});

it('the check stops when the token is refused, and reveals no token', async () => {
  const slack = await fakeSlack();
  const findings = await check(slack, { botToken: 'xoxb-canary', targets: ['#refunds'] });
  expect(findings).toEqual([
    {
      severity: 'error',
      subject: 'bot token',
      message:
        'the bot cannot speak to Slack: put a token of an installed Slack app into the environment (invalid_auth)',
    },
  ]);
  expect(slack.calls.map(({ method }) => method)).toEqual(['auth.test']);
});

it('the check explains each missing scope', async () => {
  const slack = await fakeSlack({ scopes: ['channels:read', 'groups:read'] });
  const found = await check(slack, { targets: ['#refunds'], approvers: ['ann@example.com'] });
  const lacks = (severity: 'error' | 'warning', subject: string, purpose: string) => ({
    severity,
    subject,
    message: `the bot's token lacks the scope ${subject}, ${purpose}`,
    fix: install,
  });
  expect(found).toEqual([
    bot,
    lacks('error', 'chat:write', 'with which it posts'),
    lacks('error', 'users:read', 'which identifies users'),
    lacks('error', 'users:read.email', 'which checks whether a user is an approver'),
    lacks('warning', 'app_mentions:read', 'to receive mentions'),
    lacks('warning', 'im:history', 'to receive direct messages'),
    lacks('warning', 'reactions:write', 'with which it shows the progress of an answer'),
    lacks('warning', 'files:write', 'with which it sends long answers'),
    { severity: 'ok', subject: '#refunds', message: 'the bot is in #refunds' },
  ]);
});

it('the check requires only the used scopes', async () => {
  const slack = await fakeSlack({ scopes: ['chat:write'] });
  const found = await check(slack, { conversations: false });
  expect(found.map(({ severity, subject }) => `${severity} ${subject}`)).toEqual([
    'ok bot token',
    'warning users:read',
    'warning users:read.email',
  ]);
  const approvals = await fakeSlack({ scopes: botScopes({ approvalsOnly: true }) });
  const targets = ['#refunds'];
  expect(await check(approvals, { conversations: false, targets })).toEqual([
    bot,
    { severity: 'ok', subject: '#refunds', message: 'the bot is in #refunds' },
  ]);
});

it('the check requires the scopes that find a channel by name', async () => {
  const slack = await fakeSlack({
    scopes: botScopes().filter((scope) => !scope.endsWith(':read')),
  });
  const found = await check(slack, { targets: ['#refunds'], conversations: false });
  expect(found.map(({ severity, subject }) => `${severity} ${subject}`)).toEqual([
    'ok bot token',
    'warning channels:read',
    'warning groups:read',
    'warning users:read',
    'error #refunds',
  ]);
});

it('the check states why a channel cannot receive posts', async () => {
  const twins = ['C0TWIN0001', 'C0TWIN0002'].map((id) => fakeChannel({ id, name: 'twins' }));
  const slack = await fakeSlack({ channels: [...usualChannels, ...twins] });
  const targets = ['#outside', '#nowhere', 'C0OLD00001', '#twins', 'C0NOSUCH01'];
  const [, ...found] = await check(slack, { targets });
  expect(found).toEqual([
    {
      severity: 'error',
      subject: '#outside',
      message: 'the bot is not in #outside, so no approver is notified there',
      fix: 'invite it in that channel with /invite and its name',
    },
    {
      severity: 'error',
      subject: '#nowhere',
      message:
        'no approver is notified in #nowhere: no channel that the bot can see is called "nowhere"; create it, or invite the bot if it is private',
    },
    {
      severity: 'error',
      subject: 'C0OLD00001',
      message: 'C0OLD00001 is archived, so no approver is notified there',
      fix: 'name another channel',
    },
    {
      severity: 'error',
      subject: '#twins',
      message:
        'no approver is notified in #twins: more than one channel is called "twins" (C0TWIN0001 and C0TWIN0002); write the id of one of them in "to"',
    },
    {
      severity: 'error',
      subject: 'C0NOSUCH01',
      message:
        'no approver is notified in C0NOSUCH01: name a channel that exists, and invite the bot if it is private (channel_not_found)',
    },
  ]);
});

it('the check names approvers who are not in Slack', async () => {
  const slack = await fakeSlack();
  const approvers = ['ann@example.com', 'zoe@example.com', 'gone@example.com', 'no email'];
  const [, ...found] = await check(slack, { approvers });
  expect(found).toEqual(
    ['zoe@example.com', 'gone@example.com'].map((email) => ({
      severity: 'warning',
      subject: email,
      message: `${email} is no Slack user, so that person cannot decide there`,
      fix: 'correct the address among the approvers, or let that person decide elsewhere',
    })),
  );
  expect(slack.calls.filter(({ method }) => method === 'users.lookupByEmail')).toHaveLength(3);
});

it('the check looks up fifty approvers at most', async () => {
  const slack = await fakeSlack();
  const approvers = Array.from({ length: 53 }, (_, index) => `u${index}@example.com`);
  const found = await check(slack, { approvers });
  expect(found).toHaveLength(52);
  expect(found.at(-1)).toEqual({
    severity: 'warning',
    subject: 'approvers',
    message: '3 of the approvers were not checked: there are more than 50',
  });
  expect(slack.calls.filter(({ method }) => method === 'users.lookupByEmail')).toHaveLength(50);
});

it('the check stops when Slack limits its rate', async () => {
  const slack = await fakeSlack();
  slack.fail({
    method: 'users.lookupByEmail',
    times: 99,
    fault: { kind: 'rateLimited', retryAfter: 30 },
  });
  const approvers = ['ann@example.com', 'bob@example.com', 'eve@example.com'];
  expect(await check(slack, { approvers })).toEqual([
    bot,
    {
      severity: 'warning',
      subject: 'approvers',
      message: '3 of the approvers were not checked: Slack rate limit reached',
    },
  ]);
  expect(slack.calls.filter(({ method }) => method === 'users.lookupByEmail')).toHaveLength(1);
});

it('the check continues with the approvers when the channels cannot be read', async () => {
  const slack = await fakeSlack();
  slack.fail({
    method: 'conversations.list',
    fault: { kind: 'rateLimited', retryAfter: 1 },
  });
  const targets = ['#refunds', '#general'];
  const [, ...found] = await check(slack, { targets, approvers: ['zoe@example.com'] });
  expect(found.map(({ subject, message }) => `${subject}: ${message}`)).toEqual([
    'channels: 2 of the channels were not checked: looking up the channel failed: Slack rate limit reached',
    'zoe@example.com: zoe@example.com is no Slack user, so that person cannot decide there',
  ]);
});

it.each([
  ['refuses', (slack: FakeSlack) => slack.botToken],
  ['does not know', () => 'xapp-canary'],
])(
  'the check reports that the app cannot connect with a token that Slack %s',
  async (_, tokenOf) => {
    const slack = await fakeSlack();
    const [, app, ...more] = await check(slack, { appToken: tokenOf(slack) });
    expect(more).toEqual([]);
    expect(app).toEqual({
      severity: 'error',
      subject: 'app token',
      message: expect.stringMatching(
        /^the app cannot connect to Slack: put .* \([a-z_]+\)$/,
      ) as string,
      fix: 'give the app-level token the scope connections:write, and switch Socket Mode on',
    });
    expect(JSON.stringify(app)).not.toContain('canary');
  },
);

it('the check reports that Slack is not reachable', async () => {
  const slack = await fakeSlack();
  await slack.close();
  expect(await check(slack, { targets: ['#refunds'] })).toEqual([
    {
      severity: 'error',
      subject: 'bot token',
      message: 'the bot cannot speak to Slack: the connection broke (ECONNREFUSED)',
    },
  ]);
});

it('the check covers the user groups of approvers, and the scope that reads them', async () => {
  const slack = await fakeSlack({ scopes: [...botScopes(), 'usergroups:read'] });
  slack.workspace.userGroups.set('S0LEGAL', ['U0ANN00001']);
  const [ok, unknown] = [
    { severity: 'ok', subject: 'S0LEGAL', message: 'the user group S0LEGAL has 1 members' },
    {
      ...{ severity: 'error', subject: 'S0NONE' },
      message: 'Slack has no user group S0NONE with members, so no one can decide as its member',
      fix: 'correct the id in people.yaml, or add members to the group in Slack',
    },
  ];
  expect(await check(slack, { groups: ['S0LEGAL', 'S0NONE'] })).toEqual([bot, ok, unknown]);
  const poor = await fakeSlack();
  expect(await check(poor, { groups: ['S0LEGAL'] })).toEqual([
    bot,
    {
      ...{ severity: 'error', subject: 'usergroups:read', fix: install },
      message:
        "the bot's token lacks the scope usergroups:read, without which no member of a Slack user group can decide",
    },
  ]);
});

it('the check finds a person who is a direct target', async () => {
  const slack = await fakeSlack();
  expect(await check(slack, { targets: ['@ann@example.com', '@zoe@example.com'] })).toEqual([
    bot,
    { severity: 'ok', subject: '@ann@example.com', message: 'ann@example.com is asked directly' },
    {
      ...{ severity: 'error', subject: '@zoe@example.com' },
      message:
        'no approver is notified in @zoe@example.com: no one in the workspace has the email zoe@example.com; correct it, or ask in a channel',
    },
  ]);
});
