/** A held call: an element of `GET /api/deferrals`, earliest deadline first. */
export interface DeferralJson {
  agent_id: string;
  id: string;
  task_id: string;
  tool: string;
  to: string | string[];
  timeout: string;
  /** The rule's description of the call: the operator's template filled with values from the model. */
  context: string;
  args: Record<string, unknown>;
  /** The MODIFY rules that rewrote the model's arguments, as text, with each changed value as JSON. */
  modified?: string;
  changes?: { path: string; before?: string; after?: string }[];
  args_sha256: string;
  /** True if redaction rules hide a part of the arguments. The original arguments run. */
  args_redacted?: boolean;
  /** Messages sent to the task while the call is held, oldest first. */
  messages?: { from: string | null; text: string; at?: string }[];
  /** An equal call of the session that ran earlier. */
  repeats?: { call_id: string; at: string; approver?: string };
  /** Number of times the caller has requested the call; absent for one. */
  requests?: number;
  requester: { user_id: string; email: string | null; provider: string } | null;
  requested_at: string;
  expires_at: string;
  /** `null` if anyone may decide. */
  approvers: string[] | null;
  quorum: number;
  approvals: { approver: string; at: string }[];
  /** Time at which a second target will be asked; absent once it has been. */
  escalates_at?: string;
  escalated_to?: string | string[];
  /** Title of the call's task. */
  title: string;
}

/** Response of `GET /api/deferrals`. */
export interface DeferralsJson {
  /**
   * Each agent's calls with the earliest deadlines, by default up to 500 per agent; the query parameter `most` changes
   * the limit.
   */
  deferrals: DeferralJson[];
  /** Total number of waiting calls. */
  total: number;
  /** IDs of running agents that did not answer in time. A `reset` event follows once one of them has answered. */
  unasked: string[];
  /** The server's clock, for countdowns. */
  now: string;
}

/**
 * Body of `POST /api/agents/{id}/tasks/{tid}/decisions`. All fields except `token` are forwarded to the agent's
 * endpoint.
 */
export interface DecisionRequestJson {
  decision: 'approve' | 'reject';
  note?: string;
  approver_email?: string;
  deferral_id?: string;
  args_sha256?: string;
  /**
   * The approver's own bearer token for that agent. Without it, the decision is made as the operator of this machine.
   */
  token?: string;
}
