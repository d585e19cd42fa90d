import { type Channels, type ChannelsReading, openChannels } from '../actors/channels/channels.ts';
import type { ServiceConfig } from '../actors/config/config.ts';
import type { Egress } from '../actors/outbound/outbound.ts';
import type { Clock, Log } from '../actors/ports.ts';
import type { TaskStore } from '../actors/records/records.ts';
import type { TaskSystem } from '../actors/tasks/tasks.ts';

export interface ConnectionParts {
  config: ServiceConfig;
  settings: ChannelsReading;
  system: TaskSystem;
  store: TaskStore;
  egress: Egress;
  /** Where the agent answers here, and what conversations are let in by; `null` where nobody can ask in a chat. */
  surface: { url: string; token: string | null };
  /** Where others reach the agent. */
  publicUrl: string;
  /** Puts a line on the daemon's console; nobody reads it when absent. */
  console?: ((line: string) => void) | undefined;
  clock: Clock;
  log: Log;
}

/** Calls that are shown on the console of a daemon that finds them waiting. */
const mostShown = 20;

/** Opens the ways to people and has them hear of every task; nobody is asked before `start` (docs/contract/chat.md). */
export async function connectChannels(parts: ConnectionParts): Promise<Channels> {
  const { config, settings, system, store, egress, surface, publicUrl, clock, log } = parts;
  const { defer } = config.security;
  const channels = await openChannels({
    agentId: config.agent_id,
    settings,
    defer: defer.enabled ? defer : { default_approvers: [], tools: {} },
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
  const hearNothing = system.watchers.onEachChange((task) => channels.changed(task));
  return {
    ...channels,
    async stop() {
      hearNothing();
      await channels.stop();
    },
  };
}
