import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { FakeSlack, type FakeSlackOptions } from '../../../packages/fake-slack/fake-slack.ts';
import type { ChannelsReading } from '../../../src/actors/channels/channels.ts';
import { serviceSchema } from '../../../src/actors/config/service-schema.ts';
import { checkChannels } from '../../../src/cli/doctor/check-channels.ts';
import { checkWebhook } from '../../../src/cli/doctor/check-webhook.ts';
import { FakeTelegram } from '../../helpers/fake-telegram.ts';
import { listenOnLoopback } from '../../helpers/listen-on-loopback.ts';

const idle: ChannelsReading = { slack: null, telegram: null, webhook: null };

/** Checks an agent with these channels, whose one tool is held for approvers in `#outside`. */
function check(listed: string[], channels: Partial<ChannelsReading> = {}, isHolding = true) {
  const config = serviceSchema.parse({
    agent_id: 'x',
    channels: listed,
    security: {
      defer: {
        enabled: isHolding,
        tools: { pay: { to: 'channel:slack:#outside', approvers: ['zoe@example.com'] } },
      },
    },
  });
  return checkChannels({ directory: '/agent' }, config, {
    channels: { ...idle, ...channels },
    withheldAdapters: new Set(),
  });
}

async function startSlack(options: FakeSlackOptions = {}) {
  const slack = await FakeSlack.start(options);
  onTestFinished(() => slack.close());
  const { botToken, appToken, apiUrl } = slack;
  return {
    slack,
    settings: { botToken, appToken, apiUrl, dashboardUrl: null, conversations: true },
  };
}

const none = [['slack', { status: 'pass', message: 'no chat adapter' }]];

it('doctor accepts an agent without chats', async () => {
  expect(await check([])).toEqual(none);
  expect(await check(['console'])).toEqual(none);
  const unread = { channels: null, withheldAdapters: new Set<string>() };
  expect(await checkChannels({ directory: '/agent' }, null, unread)).toEqual(none);
});

it('doctor warns of adapters that lack settings', async () => {
  expect(await check(['slack', 'telegram', 'webhook', 'email', 'teams'])).toEqual(
    ['slack', 'telegram', 'webhook', 'email', 'teams'].map((adapter) => [
      adapter,
      {
        status: 'warn',
        message: `the ${adapter} adapter does not run, since its settings are not complete`,
        fix: 'holdpoint validate --dir /agent',
      },
    ]),
  );
});

it('doctor accepts a complete Slack set-up, and skips tools that are not held', async () => {
  const { slack, settings } = await startSlack();
  expect(await check(['slack'], { slack: settings }, false)).toEqual([
    [
      'slack',
      { status: 'pass', message: 'the bot is U0HOLDPNT1 in T0HOLDPNT1, the app may connect' },
    ],
  ]);
  expect(slack.calls.map(({ method }) => method)).toEqual(['auth.test', 'apps.connections.open']);
});

it('doctor has a line for every error in Slack', async () => {
  const { settings } = await startSlack();
  expect(await check(['slack'], { slack: settings })).toEqual([
    [
      'slack',
      {
        status: 'fail',
        message: 'the bot is not in #outside, so no approver is notified there',
        fix: 'invite it in that channel with /invite and its name',
      },
    ],
    [
      'slack',
      {
        status: 'warn',
        message: 'zoe@example.com is no Slack user, so that person cannot decide there',
        fix: 'correct the address among the approvers, or let that person decide elsewhere',
      },
    ],
  ]);
});

it("doctor asks Telegram for the bot's name", async () => {
  const fake = await FakeTelegram.start();
  const telegram = {
    token: fake.token,
    apiUrl: fake.apiUrl,
    allowedUsers: null,
    people: {},
    conversations: true,
  };
  expect(await check(['telegram'], { telegram })).toEqual([
    ['telegram', { status: 'pass', message: 'the bot is @DeskBot' }],
  ]);
  const stranger = { ...telegram, token: '1:canary' };
  const found = await check(['telegram'], { telegram: stranger });
  expect(found).toEqual([
    [
      'telegram',
      {
        status: 'fail',
        message:
          'could not ask who the bot is: Telegram rejected the bot token; copy it from @BotFather again and restart the agent',
      },
    ],
  ]);
});

it('doctor connects to the hosts of webhooks, without a path and without a post', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(405).end();
  });
  const origin = await listenOnLoopback(server);
  const targets = { ops: { url: `${origin}/in/canary?key=canary`, secret: 's' } };
  expect(await check(['webhook'], { webhook: { dashboardUrl: null, targets } })).toEqual([
    ['webhook', { status: 'pass', message: 'posts to ops' }],
  ]);
  expect(asked).toEqual(['HEAD /']);
  const teams = { pageUrl: 'https://agent.example.com', targets };
  expect(await check(['teams'], { teams })).toEqual([
    ['teams', { status: 'pass', message: 'posts to ops' }],
  ]);
  expect(asked).toEqual(['HEAD /', 'HEAD /']);
  const gone = { url: 'https://gone.invalid/canary' };
  const lost = { pageUrl: '', targets: { lost: gone } };
  expect(await check(['teams'], { teams: lost })).toEqual([
    [
      'teams',
      {
        status: 'fail',
        message: expect.stringMatching(
          /^gone\.invalid, the host of the target lost, is not reached: E[A-Z_]+$/,
        ) as string,
        fix: 'correct the URL in the variable that teams-config.yaml names, or the way there',
      },
    ],
  ]);
  expect(await checkWebhook({ ops: targets.ops, gone, lost: gone }, 'correct it')).toEqual({
    status: 'fail',
    message: expect.stringMatching(
      /^gone\.invalid, the host of the target gone, is not reached: E[A-Z_]+ \(and 1 more\)$/,
    ) as string,
    fix: 'correct it',
  });
});
