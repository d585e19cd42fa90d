import type { z } from 'zod';
import type { decidedCall } from '../decided-call.ts';
import type { deferralDetail } from '../deferral.ts';
import type { Lenient } from '../relaxed.ts';

/** A held call: an element of `GET /api/deferrals`, earliest deadline first. */
export type DeferralJson = { agent_id: string } & Lenient<z.output<typeof deferralDetail>>;

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
  /** The arguments to run instead, where the call's rule allows a change. */
  args?: Record<string, unknown>;
  /** The later calls that an approval releases, where the call's rule allows it. */
  remember?: { scope: 'task' | 'caller'; for: string; uses: number; when?: string };
  /**
   * The approver's own bearer token for that agent. Without it, the decision is made as the operator of this machine.
   */
  token?: string;
}

/** Body of `POST /api/agents/{id}/deferrals/decisions`; the agent decides each of at most 100 separately. */
export interface DecisionsRequestJson {
  decisions: ({ task_id: string } & Omit<DecisionRequestJson, 'token' | 'args' | 'remember'>)[];
  /** As in one decision. */
  token?: string;
}

/** Response of `POST /api/agents/{id}/deferrals/decisions`, in the order of the request. */
export interface DecisionsJson {
  decisions: { task_id: string; status: number; body: unknown }[];
}

/** A decision of the dashboard's user, with the outcome of the approved call. */
export type DecidedCallJson = { agent_id: string } & Lenient<z.output<typeof decidedCall>>;

/** Response of `GET /api/deferrals/decided`. */
export interface DecidedCallsJson {
  /** Newest first, at most 50. */
  decided: DecidedCallJson[];
  /** IDs of running agents that did not answer. */
  unasked: string[];
}
