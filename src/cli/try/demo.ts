import type { AgentClient } from '../agent-client.ts';
import type { Thinking } from './thinker.ts';

/** A running refund agent for the demo. */
export interface Demo {
  client: AgentClient;
  url: string;
  directory: string;
  auditPath: string;
  thinking: Thinking;
  /** Aborts when the user leaves; its reason is the error to throw. */
  signal: AbortSignal;
}
