/** A call that waits for a person: an element of `GET /api/deferrals`, which puts the soonest deadline first. */
export interface DeferralJson {
  agent_id: string;
  id: string;
  task_id: string;
  tool: string;
  to: string | string[];
  timeout: string;
  /** What the rule says of the call, in words of the operator with those of the model in it. */
  context: string;
  args: Record<string, unknown>;
  /** Which rules of MODIFY rewrote what the model asked for, in words, and what they changed, each value as JSON. */
  modified?: string;
  changes?: { path: string; before?: string; after?: string }[];
  args_sha256: string;
  /** True where redaction rules hide a part of the arguments; what runs is the original. */
  args_redacted?: boolean;
  /** What was written to the task since the call waits, oldest first. */
  messages?: { from: string | null; text: string; at?: string }[];
  /** An equal call of the session that ran before. */
  repeats?: { call_id: string; at: string; approver?: string };
  /** How often its caller has asked for the call; absent for once. */
  requests?: number;
  requester: { user_id: string; email: string | null; provider: string } | null;
  requested_at: string;
  expires_at: string;
  /** `null` lets anybody decide. */
  approvers: string[] | null;
  quorum: number;
  approvals: { approver: string; at: string }[];
  /** When another target is asked as well, until it is. */
  escalates_at?: string;
  escalated_to?: string | string[];
  /** Title of its task. */
  title: string;
}

/** Answer of `GET /api/deferrals`. */
export interface DeferralsJson {
  /** Of each agent those whose deadline comes first, 500 unless the query says `most`. */
  deferrals: DeferralJson[];
  /** How many wait in all. */
  total: number;
  /** Ids of running agents that did not say in time what waits in them; once one has, there is a `reset` event. */
  unasked: string[];
  /** The clock of the server, for countdowns. */
  now: string;
}

/** Body of `POST /api/agents/{id}/tasks/{tid}/decisions`; all but `token` is what the agent's own endpoint takes. */
export interface DecisionRequestJson {
  decision: 'approve' | 'reject';
  note?: string;
  approver_email?: string;
  deferral_id?: string;
  args_sha256?: string;
  /** The decider's own bearer token for that agent; without it the operator of this machine decides. */
  token?: string;
}
