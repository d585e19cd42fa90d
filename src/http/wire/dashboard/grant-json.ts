import type { z } from 'zod';
import type { grant } from '../grant.ts';
import type { Lenient } from '../relaxed.ts';

/** An approval that releases later calls of an agent. */
export type GrantJson = { agent_id: string } & Lenient<z.output<typeof grant>>;

/** Response of `GET /api/grants`. */
export interface GrantsJson {
  grants: GrantJson[];
  /** IDs of running agents that did not answer. */
  unasked: string[];
}
