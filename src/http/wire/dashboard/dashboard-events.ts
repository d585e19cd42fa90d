import type { AgentJson } from './agent-json.ts';
import type { DeferralJson } from './held-call-json.ts';
import type { TaskRowJson } from './task-row-json.ts';

/** Events of `GET /api/events` with their data; each has an id, and `Last-Event-ID` resumes after it. */
export interface DashboardEvents {
  agent_status: AgentJson;
  agent_created: AgentJson;
  agent_removed: { id: string };
  /** `deferral` is `null` when it has ended; `pending` counts those of the agent. */
  deferral: { agent_id: string; deferral: DeferralJson | null; task_id: string; pending: number };
  task: { agent_id: string; task: TaskRowJson };
  /** The status of a sign-in may be another. Which one is not said: whoever knows its state asks. */
  sign_in: Record<string, never>;
  /** The client has missed events and reads everything again. */
  reset: Record<string, never>;
}
