import {
  type ChannelStatus,
  type Channels,
  type ChannelsReading,
  openChannels,
} from '../../actors/channels/channels.ts';
import { askedBy, type ServiceConfig } from '../../actors/config/config.ts';
import type { Egress, PushNotifications } from '../../actors/outbound/outbound.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { TaskStore } from '../../actors/records/records.ts';
import { allTasks, type TaskSystem } from '../../actors/tasks/tasks.ts';
import type { OpenedShared } from './open-shared.ts';

/** The addresses of an agent that listens. */
interface AgentAddresses {
  /** Local URL of the agent and the token for conversations. `null` if no channel accepts requests from chat. */
  surface: { url: string; token: string | null };
  /** URL under which other machines reach the agent. */
  publicUrl: string;
}

interface ConnectionParts {
  config: ServiceConfig;
  settings: ChannelsReading;
  system: TaskSystem;
  store: TaskStore;
  egress: Egress;
  /** Prints a line on the daemon's console; lines are dropped when absent. */
  console?: ((line: string) => void) | undefined;
  clock: Clock;
  log: Log;
}

/** Maximum number of already waiting calls printed on the console at startup. */
const mostShown = 20;

/**
 * Opens the channels and subscribes them to every task. Sends no approval request before `start`
 * (docs/contract/chat.md).
 */
async function connectChannels(
  parts: ConnectionParts,
  { surface, publicUrl }: AgentAddresses,
): Promise<Channels> {
  const { config, settings, system, store, egress, clock, log } = parts;
  const channels = await openChannels({
    agentId: config.agent_id,
    settings,
    defer: askedBy(config.security),
    people: {
      addressesOf: (entries) => system.people.addressesOf(entries, system.now()),
      slackGroups: () => system.people.slackGroups,
      readSlackGroups: (members) => system.people.readSlackGroups(members),
    },
    store,
    decide: (taskId, attempt) => system.decide(taskId, attempt),
    waiting: async () => {
      const { tasks } = await store.rows.listing.made({ state: 'parked', limit: mostShown });
      return tasks.toReversed();
    },
    surface,
    publicUrl,
    outbound: egress,
    console: parts.console ?? (() => undefined),
    clock,
    log,
  });
  const hearNothing = system.watchers.subscribe(allTasks, {
    onTask: (task) => channels.changed(task),
  });
  return {
    ...channels,
    async stop() {
      hearNothing();
      await channels.stop();
    },
  };
}

/** The channels and push receivers. Only one of several daemons runs them at a time. */
export interface KeptChannels {
  /** Returns the state of this daemon's channels; empty while another daemon runs them. */
  status(): Promise<ChannelStatus[]>;
  /**
   * Opens the channels of an agent that listens. Daemons that share their tasks open them only while they hold the keeper
   * duty.
   */
  open(addresses: AgentAddresses): Promise<void>;
  /** Starts sending notifications to approvers and push receivers. */
  start(): void;
  /** Stops accepting requests from chats. */
  stopListening(): Promise<void>;
  stop(): Promise<void>;
}

export interface KeptChannelsParts extends ConnectionParts {
  push: Pick<PushNotifications, 'changed' | 'start' | 'pause'>;
  /** `null` if no other daemon shares the store. */
  shared: Pick<OpenedShared, 'duties'> | null;
}

/** Prepares the channels; until `open` there are none. */
export function keepChannels({ shared, push, ...parts }: KeptChannelsParts): KeptChannels {
  return shared === null ? alone(parts, push) : inTurn(parts, push, shared);
}

function alone(parts: ConnectionParts, push: KeptChannelsParts['push']): KeptChannels {
  let connected: Channels | null = null;
  return {
    status: async () => (await connected?.status()) ?? [],
    async open(addresses) {
      parts.system.watchers.subscribe(allTasks, { onTask: (task) => push.changed(task) });
      connected = await connectChannels(parts, addresses);
    },
    start() {
      push.start();
      connected?.start();
    },
    stopListening: async () => connected?.stopListening(),
    stop: async () => connected?.stop(),
  };
}

function inTurn(
  parts: ConnectionParts,
  push: KeptChannelsParts['push'],
  { duties }: Pick<OpenedShared, 'duties'>,
): KeptChannels {
  let connected: Channels | null = null;
  let kept: Promise<() => Promise<void>> | null = null;
  let isOver = false;
  const keep = async (addresses: AgentAddresses): Promise<() => Promise<void>> => {
    const channels = await connectChannels(parts, addresses);
    connected = channels;
    const hearNothing = parts.system.watchers.subscribe(allTasks, {
      onTask: (task) => push.changed(task),
    });
    push.start();
    channels.start();
    return async () => {
      connected = null;
      hearNothing();
      push.pause();
      await channels.stop();
    };
  };
  const leave = async (): Promise<void> => {
    const keeping = kept;
    kept = null;
    // The caller that opened the channels has already received the error.
    const end = await keeping?.catch(() => null);
    await end?.();
  };
  return {
    status: async () => (await connected?.status()) ?? [],
    async open(addresses) {
      duties.add(async () => {
        if (!isOver) await (kept = keep(addresses));
        return leave;
      });
    },
    // The keeper duty starts the channels.
    start: () => undefined,
    stopListening: async () => connected?.stopListening(),
    stop() {
      isOver = true;
      return leave();
    },
  };
}
