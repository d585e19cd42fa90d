/** What people decided on one day of a zone, and how long it took. */
export interface OverviewDayJson {
  /** Such as `2026-11-24`. */
  day: string;
  approved: number;
  /** Approved with other arguments. */
  changed: number;
  rejected: number;
  /** Nobody decided in time. */
  expired: number;
  /** Calls that failed, or whose outcome nobody knows, after an approval. */
  failed: number;
  /** From the request to the last decision, in milliseconds; `null` without a decision. */
  p50_ms: number | null;
  p95_ms: number | null;
}

/** A person who decided. */
export interface OverviewPersonJson {
  name: string;
  decisions: number;
  rejected: number;
  median_ms: number;
}

/** A tool whose approved calls failed. */
export interface OverviewFailureJson {
  agent_id: string;
  tool: string;
  failed: number;
  /** Approved calls that ran. */
  ran: number;
  last_error: string;
  /** The task of the last one. */
  task_id: string;
}

/** A time in which an agent worked, or waited for a person; epoch milliseconds. */
export interface OverviewSpanJson {
  from: number;
  to: number;
  state: 'working' | 'waiting';
}

/** What an agent did in the range. */
export interface OverviewAgentJson {
  agent_id: string;
  input_tokens: number;
  output_tokens: number;
  /** The last 24 hours of the range; what has not ended lasts until its end. */
  spans: OverviewSpanJson[];
}

/** Response of `GET /api/overview`. */
export interface OverviewJson {
  from: string;
  to: string;
  zone: string;
  /** Each day of the range, oldest first. */
  days: OverviewDayJson[];
  p50_ms: number | null;
  p95_ms: number | null;
  /** The most decisions first. */
  people: OverviewPersonJson[];
  /** The most failures first. */
  failures: OverviewFailureJson[];
  agents: OverviewAgentJson[];
  /** Agents whose log cannot be read, and why. */
  unread: { agent_id: string; problem: string }[];
}
