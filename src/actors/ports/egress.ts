import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';

/** Egress mode of the agent (docs/contract/egress.md). */
export type EgressMode = 'deny-all' | 'allowlist' | 'dev-open';

/** The originator of a request; `taskId` is `null` for the daemon itself. */
export interface EgressScope {
  taskId: string | null;
  correlationId: string | null;
  /** Workflow tags, such as `workflow_id`. */
  tags: Record<string, string>;
  /**
   * True for requests of the daemon itself while it serves a task, such as to its model; not for tools. False for a
   * foreign program that serves no single task. When absent, a scope without a task is the daemon's own.
   */
  isOwn?: boolean;
  /** The skill whose script sends the request; the hosts declared by that skill are open to it. */
  skill?: string;
}

/** The ruling of the egress policy on one hop. */
export interface EgressRecord {
  /** `null` for the daemon itself. */
  scope: EgressScope | null;
  /** The host in lower case, without its port. */
  domain: string;
  mode: EgressMode;
  /** Why it was blocked; `null` if it was allowed. */
  reason: string | null;
}

/** Egress of the daemon, subject to the egress policy (docs/contract/egress.md). */
export interface Outbound {
  fetch: typeof globalThis.fetch;
  dispatcher: Dispatcher;
  /**
   * Opens to the daemon a host that an issuer has named; its address must be public, since the operator has not named
   * the host.
   */
  discovered?: (endpoint: { host: string; port: number; source: string }) => void;
}

/** An egress that attributes requests to a scope. */
export interface ScopedOutbound extends Outbound {
  /** Attributes all requests of `run` to a scope. */
  within<Result>(scope: EgressScope, run: () => Result): Result;
}

/** An egress that also opens connections for protocols other than HTTP. */
export interface ConnectingOutbound extends ScopedOutbound {
  /** Opens a connection to a checked address, and records the hop. Rejects with an EgressError. */
  connect(
    hop: { hostname: string; port: number },
    scope: EgressScope | null,
    signal?: AbortSignal,
  ): Promise<Socket>;
}

/**
 * Egress of a tool; with `within`, it may use the daemon's own scope for hosts named by the operator's settings of the
 * tool.
 */
export type ToolOutbound = Outbound & Partial<Pick<ScopedOutbound, 'within'>>;
