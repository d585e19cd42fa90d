import { namesOnePerson, normaliseEmail } from '../../machines/governance/email.ts';
import { messageOf } from '../../machines/message-of.ts';
import { readChannelNames } from '../records/records.ts';
import { silentLog } from '../silent-log.ts';
import { systemClock } from '../system-clock.ts';
import { askedThrough, type DeferRules } from './asked-through.ts';
import type { ChannelsReading } from './channel-settings.ts';
import type { SetupFinding } from './slack/setup/setup-finding.ts';
import type { TelegramClient } from './telegram/telegram-client.ts';

/** A finding about the setup of one chat. */
export interface ChannelFinding extends SetupFinding {
  adapter: 'slack' | 'telegram' | 'email';
}

/** The agent whose channels are checked. */
interface ProbedAgent {
  storePath: string;
  /** Ids of the Slack user groups whose members may approve. */
  slackGroups: readonly string[];
}

/**
 * Checks whether the chats of an agent can deliver approvals and receive messages; posts nothing. Connects to the services directly, so do not use it in a running agent. Never rejects.
 */
export async function probeChannels(
  { slack, telegram, email }: ChannelsReading,
  defer: DeferRules,
  { storePath, slackGroups }: ProbedAgent,
): Promise<ChannelFinding[]> {
  const [inSlack, inTelegram, byEmail] = await Promise.all([
    slack === null ? [] : probeSlack(slack, defer, { storePath, slackGroups }),
    telegram === null ? [] : probeTelegram(telegram, defer),
    email ? probeServer(email) : [],
  ]);
  return [
    ...inSlack.map((finding) => ({ adapter: 'slack' as const, ...finding })),
    ...inTelegram.map((finding) => ({ adapter: 'telegram' as const, ...finding })),
    ...byEmail.map((finding) => ({ adapter: 'email' as const, ...finding })),
  ];
}

async function probeSlack(
  { botToken, appToken, apiUrl, conversations }: NonNullable<ChannelsReading['slack']>,
  defer: DeferRules,
  { storePath, slackGroups }: ProbedAgent,
): Promise<SetupFinding[]> {
  const [{ createSlackClient }, { ChannelDirectory }, { checkSlackSetup }] = await Promise.all([
    import('./slack/link/slack-client.ts'),
    import('./slack/link/channel-directory.ts'),
    import('./slack/setup/check-setup.ts'),
  ]);
  const client = (token: string) =>
    createSlackClient({ token, apiUrl, fetch: globalThis.fetch, log: silentLog });
  const web = client(botToken);
  const kept = readChannelNames(storePath, 'slack');
  const names = { find: async (name: string) => kept.get(name), keep: async () => undefined };
  return checkSlackSetup({
    ...askedThrough('slack', defer),
    web,
    app: client(appToken),
    groups: slackGroups,
    conversations,
    directory: new ChannelDirectory({ web, clock: systemClock(), names }),
  });
}

async function probeTelegram(
  settings: NonNullable<ChannelsReading['telegram']>,
  defer: DeferRules,
): Promise<SetupFinding[]> {
  const { TelegramClient } = await import('./telegram/telegram-client.ts');
  const clock = systemClock();
  const client = new TelegramClient({ settings, outbound: globalThis, clock });
  const { signal } = new AbortController();
  const subject = 'bot token';
  try {
    const { username } = await client.ask('ask who the bot is', (api, until) => api.getMe(until), {
      signal,
    });
    const bot: SetupFinding = { severity: 'ok', subject, message: `the bot is @${username}` };
    const { targets, approvers } = askedThrough('telegram', defer);
    const known = new Set(Object.values(settings.people).map((email) => normaliseEmail(email)));
    const unlisted = approvers.filter((entry) => namesOnePerson(entry) && !known.has(entry));
    return [
      bot,
      ...(await Promise.all(targets.map((target) => probeChat(client, target)))),
      ...unlisted.map((email) => unlistedApprover(email)),
    ];
  } catch (error) {
    const message = messageOf(error);
    return [{ severity: 'error', subject, message: message.replace(/^telegram: /, '') }];
  }
}

async function probeChat(client: TelegramClient, target: string): Promise<SetupFinding> {
  const { signal } = new AbortController();
  try {
    await client.ask('find the chat', (api, until) => api.getChat(Number(target), until), {
      signal,
    });
    return { severity: 'ok', subject: target, message: `the bot is in the chat ${target}` };
  } catch (error) {
    const message = `no approver is notified in the chat ${target}: ${messageOf(error).replace(/^telegram: /, '')}`;
    const fix = 'add the bot to the chat, or correct the id of the chat';
    return { severity: 'error', subject: target, message, fix };
  }
}

function unlistedApprover(email: string): SetupFinding {
  return {
    ...{ severity: 'warning', subject: email },
    message: `${email} is not listed under people in telegram-config.yaml, so that person cannot decide there`,
    fix: 'list the id of that person, or let that person decide elsewhere',
  };
}

async function probeServer(
  settings: NonNullable<ChannelsReading['email']>,
): Promise<SetupFinding[]> {
  const { probeEmail } = await import('./email/email-adapter.ts');
  const subject = 'SMTP server';
  try {
    await probeEmail(settings);
    return [{ severity: 'ok', subject, message: `the server ${settings.host} takes mails` }];
  } catch (error) {
    const message = messageOf(error).replace(/^email: /, '');
    return [{ severity: 'error', subject, message }];
  }
}
