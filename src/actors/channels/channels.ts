import type { Task } from '../../machines/domain/task.ts';
import { createOwnFetch } from '../outbound/outbound.ts';
import { pageOfCall } from '../page-of-call.ts';
import type { Clock } from '../ports/clock.ts';
import type { ConnectingOutbound } from '../ports/egress.ts';
import type { Log } from '../ports/log.ts';
import type { ApprovalRows, ChannelNameRows, ConversationRows } from '../records/records.ts';
import { ApprovalCourier } from './approval-courier.ts';
import { askedThrough, type DeferRules } from './asked-through.ts';
import type {
  ApprovalAuthority,
  ApprovalPlaces,
  ApproverPeople,
  ChannelAdapter,
  ChannelState,
} from './channel-adapter.ts';
import { type ChannelsReading, hearsPeople } from './channel-settings.ts';
import { createConsoleAdapter } from './console/console-adapter.ts';
import type { ConversationPort } from './conversation-port.ts';
import type { Conversations } from './conversations/conversations.ts';
import { LocalNotices } from './local-notices.ts';

export { type ChannelsReading, hearsPeople } from './channel-settings.ts';

export interface ChannelParts {
  agentId: string;
  settings: ChannelsReading;
  defer: DeferRules;
  people: ApproverPeople;
  store: {
    approvals: ApprovalRows;
    conversations: ConversationRows;
    channelNames: ChannelNameRows;
  };
  decide: ApprovalAuthority['decide'];
  /** Returns tasks that wait for approval, oldest first; possibly not all of them when there are many. */
  waiting: () => Promise<Task[]>;
  /** The agent's own URL and the token of conversations; `null` without conversations. */
  surface: { url: string; token: string | null };
  publicUrl: string;
  outbound: ConnectingOutbound;
  /** Writes a line to the daemon's console. */
  console: (line: string) => void;
  clock: Clock;
  log: Log;
}

export interface ChannelStatus {
  adapter: string;
  state: ChannelState;
  /** Number of undelivered messages. */
  pending: number;
  /** Time at which the oldest pending call was held, in epoch milliseconds; `null` without one. */
  oldestAt: number | null;
}

/** Channels to people: approvers and users who talk to the agent (docs/contract/chat.md). */
export interface Channels {
  /** Starts connecting and resumes the work of an earlier start. */
  start(): void;
  /** Notifies approvers of a change of a committed task. */
  changed(task: Task): void;
  /** Stops accepting messages from users who talk to the agent. */
  stopListening(): Promise<void>;
  /** Closes every adapter; undelivered messages are sent after the next start. */
  stop(): Promise<void>;
  /** Rejects when the store cannot be read. */
  status(): Promise<ChannelStatus[]>;
}

/** An adapter, with its conversation port if it supports conversations. */
interface OpenedAdapter {
  adapter: ChannelAdapter;
  conversation: ConversationPort | null;
  /** Runs after `start`. */
  begun?: () => Promise<void>;
}

interface Talk {
  conversations: Conversations;
  ports: Map<string, ConversationPort>;
  close(): Promise<void>;
}

/** `channel:dashboard:*` sends nothing: the dashboard polls `GET /deferrals` (docs/contract/chat.md). */
const dashboard = 'dashboard';

/** Creates the channels of an agent; the code of a chat is loaded only if the agent uses it. */
export async function openChannels(parts: ChannelParts): Promise<Channels> {
  const { store, settings, clock, log } = parts;
  const talk = await openTalk(parts);
  // Decisions arrive only after the adapters have started, by which time the courier exists.
  const approvals: ApprovalAuthority = {
    find: (id, adapter) => courier.find(id, adapter),
    decide: parts.decide,
  };
  const places: ApprovalPlaces = {
    at: (ref, adapter) => courier.at(ref, adapter),
    doubt: (ref, adapter) => courier.doubt(ref, adapter),
  };
  const opened = [
    ...(settings.slack === null
      ? []
      : [await openSlack(parts, settings.slack, { approvals, places }, talk)]),
    ...(settings.telegram === null
      ? []
      : [await openTelegram(parts, settings.telegram, { approvals, places }, talk)]),
    ...(settings.webhook === null ? [] : [await openWebhook(parts, settings.webhook)]),
    ...(settings.email ? [await openEmail(parts, settings.email)] : []),
    ...(settings.teams ? [await openTeams(parts, settings.teams)] : []),
  ];
  for (const { adapter, conversation } of opened) {
    if (conversation !== null) talk?.ports.set(adapter.name, conversation);
  }
  const adapters = opened.map(({ adapter }) => adapter);
  const courier: ApprovalCourier = new ApprovalCourier({
    rows: store.approvals,
    adapters,
    clock,
    log,
  });
  const terminal = consoleAdapter(parts);
  const local = new LocalNotices({ adapters: [terminal], log });
  return {
    start() {
      void local.start(parts.waiting);
      if (adapters.length > 0) courier.start();
      talk?.conversations.start();
      for (const { begun } of opened) void begun?.();
    },
    changed(task) {
      local.changed(task);
      if (adapters.length > 0) courier.changed(task);
    },
    async stopListening() {
      await talk?.conversations.stop();
    },
    async stop() {
      await talk?.conversations.stop();
      await courier.stop();
      await local.stop();
      await talk?.close();
    },
    status: async () => [
      ...(await statusOf(adapters, courier)),
      ...[terminal.name, dashboard].map((adapter) => ({
        adapter,
        state: terminal.state,
        pending: 0,
        oldestAt: null,
      })),
    ],
  };
}

function consoleAdapter({ console: write, surface, clock }: ChannelParts): ChannelAdapter {
  return createConsoleAdapter({ write, agentUrl: () => surface.url, clock });
}

/** Opens the conversations; `null` if no chat accepts them. */
async function openTalk(parts: ChannelParts): Promise<Talk | null> {
  const { settings, surface, store, outbound, clock, log } = parts;
  const { url, token } = surface;
  if (!hearsPeople(settings) || token === null) return null;
  const { Conversations } = await import('./conversations/conversations.ts');
  const { AgentSurface } = await import('./conversations/agent-surface.ts');
  const own = createOwnFetch(new URL(url));
  const ports: Talk['ports'] = new Map();
  const conversations = new Conversations({
    surface: new AgentSurface({ url, token, fetch: own.fetch }),
    ports: (adapter) => ports.get(adapter),
    rows: store.conversations,
    outbound,
    clock,
    log,
  });
  return { conversations, ports, close: () => own.close() };
}

async function openSlack(
  { outbound, defer, people, store, clock, log }: ChannelParts,
  settings: NonNullable<ChannelsReading['slack']>,
  authority: { approvals: ApprovalAuthority; places: ApprovalPlaces },
  talk: Talk | null,
): Promise<OpenedAdapter> {
  const { createSlackAdapter } = await import('./slack/slack-adapter.ts');
  const { reportSetup } = await import('./slack/setup/report-setup.ts');
  const names = {
    find: (name: string) => store.channelNames.find('slack', name),
    keep: (name: string, id: string) => store.channelNames.keep('slack', name, id),
  };
  const adapter = createSlackAdapter({
    settings,
    outbound,
    ...authority,
    names,
    addressesOf: (entries) => people.addressesOf(entries),
    conversations: settings.conversations ? (talk?.conversations ?? null) : null,
    clock,
    log,
  });
  people.readSlackGroups((id) => adapter.groups.members(id));
  const conversation = settings.conversations ? adapter.conversation : null;
  const begun = () =>
    reportSetup({
      settings,
      outbound,
      directory: adapter.channels,
      log,
      groups: people.slackGroups(),
      ...askedThrough('slack', defer),
    });
  return { adapter, conversation, begun };
}

async function openTelegram(
  { outbound, clock, log }: ChannelParts,
  settings: NonNullable<ChannelsReading['telegram']>,
  authority: { approvals: ApprovalAuthority; places: ApprovalPlaces },
  talk: Talk | null,
): Promise<OpenedAdapter> {
  const { createTelegramAdapter } = await import('./telegram/telegram-adapter.ts');
  const conversations = talk?.conversations ?? null;
  const adapter = createTelegramAdapter({
    ...{ settings, outbound, conversations, clock, log },
    ...authority,
  });
  return { adapter, conversation: settings.conversations ? adapter.conversation : null };
}

async function openWebhook(
  { agentId, publicUrl, outbound, clock }: ChannelParts,
  settings: NonNullable<ChannelsReading['webhook']>,
): Promise<OpenedAdapter> {
  const { createWebhookAdapter } = await import('./webhook/webhook-adapter.ts');
  const agentUrl = () => publicUrl;
  const adapter = createWebhookAdapter({ settings, agentUrl, agentId, outbound, clock });
  return { adapter, conversation: null };
}

async function openEmail(
  { people, outbound }: ChannelParts,
  settings: NonNullable<ChannelsReading['email']>,
): Promise<OpenedAdapter> {
  const { createEmailAdapter } = await import('./email/email-adapter.ts');
  const adapter = createEmailAdapter({
    ...{ settings, outbound },
    addressesOf: (entries) => people.addressesOf(entries),
    pageOf: (id) => pageOfCall(settings.pageUrl, id),
  });
  return { adapter, conversation: null };
}

async function openTeams(
  { people, outbound, clock }: ChannelParts,
  settings: NonNullable<ChannelsReading['teams']>,
): Promise<OpenedAdapter> {
  const { createTeamsAdapter } = await import('./teams/teams-adapter.ts');
  const adapter = createTeamsAdapter({
    ...{ settings, outbound, clock },
    addressesOf: (entries) => people.addressesOf(entries),
    pageOf: (id) => pageOfCall(settings.pageUrl, id),
  });
  return { adapter, conversation: null };
}

async function statusOf(
  adapters: readonly ChannelAdapter[],
  courier: ApprovalCourier,
): Promise<ChannelStatus[]> {
  const pending = await courier.pending();
  const backlogs = new Map(pending.map((backlog) => [backlog.adapter, backlog]));
  return adapters.map(({ name: adapter, state }) => {
    const { unposted = 0, stale = 0, oldestAt = null } = backlogs.get(adapter) ?? {};
    return { adapter, state, pending: unposted + stale, oldestAt };
  });
}

export { type ChannelFinding, probeChannels } from './probe-channels.ts';
export { webhookSecretFault } from './webhook/webhook-secret.ts';
