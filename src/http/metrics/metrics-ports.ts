import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { OperatedServers } from '../../actors/ports/mcp-servers.ts';
import type { TaskSystem } from '../../actors/tasks/tasks.ts';

/** The daemon as its operator sees it. */
export interface DaemonFigures {
  /** The release of the daemon. */
  version: string;
  agent: string;
  /** True if the store accepts writes. */
  isWritable: () => boolean;
  /** Bytes of the disk with the state. */
  disk: () => Promise<{ available: number; size: number }>;
  /**
   * The policies since the start: their number, whether the files have the rules in force, and whether they have
   * settings that apply at the next start only.
   */
  policy: () => { generation: number; isCurrent: boolean; needsRestart: boolean };
  /** Push notifications that wait for their receiver, and those given up since the start. */
  push: () => { pending: number; givenUp: number };
  /** Returns the name under which the agent lists a tool; `null` for a tool that it does not list. */
  listedTool: (tool: string) => string | null;
  /** Subscribes to the duration of each commit of the store, in milliseconds. */
  onCommit: (listener: (milliseconds: number) => void) => void;
}

export interface MetricsPorts {
  system: Pick<TaskSystem, 'metrics' | 'intake' | 'limits'>;
  /** `null` if admission is off. */
  admission: { fallbacks(): number } | null;
  /** Counts audit events that are committed but not yet synced to the log file. */
  auditLag?: () => Promise<number>;
  /** The state of the audit sinks. */
  auditSinks?: () => { name: string; delivered: number; dropped: number; lag: number }[];
  /** The state of the channels. */
  channels?: () => Promise<
    { adapter: string; state: string; pending: number; oldestAt: number | null }[]
  >;
  /** Sharing metrics of several daemons; absent for a single daemon. */
  shared?:
    | (() => {
        conflicts: number;
        lag: number;
        takeovers: number;
        isKeeper: boolean;
        jobs: () => Promise<{ queue: string; scheduled: number; ready: number; active: number }[]>;
      })
    | undefined;
  /** The MCP servers of the agent; absent without one. */
  mcpServers?: Pick<OperatedServers, 'states'>;
  /** True if a monitoring system has a token for the metrics. */
  hasMetricsToken?: boolean;
  /** Absent in tests of the HTTP surface. */
  daemon?: DaemonFigures;
  clock: Clock;
  log: Log;
}

/** What the families of metrics share. */
export interface RegistryPorts extends MetricsPorts {
  /** Returns the number of requests that are not answered yet. */
  inFlight: () => number;
}
