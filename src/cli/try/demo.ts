import type { AgentClient } from '../agent-client.ts';
import type { Thinking } from './thinker.ts';

/** A running refund agent to play with. */
export interface Demo {
  client: AgentClient;
  url: string;
  directory: string;
  auditPath: string;
  thinking: Thinking;
  /** Aborts with the reason to throw when the player leaves. */
  signal: AbortSignal;
}
