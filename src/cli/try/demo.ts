import type { AgentClient } from '../agent-client.ts';

/** A running refund agent to play with. */
export interface Demo {
  client: AgentClient;
  url: string;
  directory: string;
  auditPath: string;
  /** Aborts with the reason to throw when the player leaves. */
  signal: AbortSignal;
}
