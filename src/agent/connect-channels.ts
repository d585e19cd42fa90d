import { type Channels, type ChannelsReading, openChannels } from '../actors/channels/channels.ts';
import type { ServiceConfig } from '../actors/config/config.ts';
import type { Egress } from '../actors/outbound/outbound.ts';
import type { Clock } from '../actors/ports/clock.ts';
import type { Log } from '../actors/ports/log.ts';
import type { TaskStore } from '../actors/records/records.ts';
import { allTasks, type TaskSystem } from '../actors/tasks/tasks.ts';

/** The addresses of an agent that listens. */
export interface AgentAddresses {
  /** Local URL of the agent and the token for conversations. `null` if no channel accepts requests from chat. */
  surface: { url: string; token: string | null };
  /** URL under which other machines reach the agent. */
  publicUrl: string;
}

export interface ConnectionParts {
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
export async function connectChannels(
  parts: ConnectionParts,
  { surface, publicUrl }: AgentAddresses,
): Promise<Channels> {
  const { config, settings, system, store, egress, clock, log } = parts;
  const { defer } = config.security;
  const channels = await openChannels({
    agentId: config.agent_id,
    settings,
    defer: defer.enabled ? defer : { default_approvers: [], tools: {} },
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
