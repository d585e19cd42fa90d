import type { AgentJson } from './agent-json.ts';
import type { DeferralJson } from './held-call-json.ts';
import type { TaskRowJson } from './task-row-json.ts';

/** Events of `GET /api/events` with their data. Each has an ID, and `Last-Event-ID` resumes after it. */
export interface DashboardEvents {
  agent_status: AgentJson;
  agent_created: AgentJson;
  agent_removed: { id: string };
  /** `deferral` is `null` once it has ended; `pending` is the agent's number of pending deferrals. */
  deferral: { agent_id: string; deferral: DeferralJson | null; task_id: string; pending: number };
  task: { agent_id: string; task: TaskRowJson };
  /** A sign-in may have changed. The event names none; a client that has the state requests its status. */
  sign_in: Record<string, never>;
  /** The client has missed events and must reload everything. */
  reset: Record<string, never>;
}
