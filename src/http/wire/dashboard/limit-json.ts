import type { z } from 'zod';
import type { limit } from '../limit.ts';
import type { Lenient } from '../relaxed.ts';
import type { outcome } from '../settlement.ts';

/** A limit of an agent with what is used of it. */
export type LimitJson = Lenient<z.output<typeof limit>>;

/** Response of `GET /api/agents/{id}/limits`. */
export interface LimitsJson {
  limits: LimitJson[];
}

/** A call of an agent whose outcome nobody knew. */
export type OutcomeJson = { agent_id: string } & Lenient<z.output<typeof outcome>>;

/** Response of `GET /api/outcomes`. */
export interface OutcomesJson {
  /** Calls whose outcome nobody knows, newest first, at most 100 of each agent. */
  open: OutcomeJson[];
  /** Calls that people settled, newest first, at most 20 of each agent. */
  settled: OutcomeJson[];
  /** IDs of running agents that did not answer. */
  unasked: string[];
}

/** Body of `POST /api/agents/{id}/outcomes`. */
export interface SettlementJson {
  call_id: string;
  ran: boolean;
  reason: string;
}
