import type { AuthFailure } from '../../actors/ports/authentication.ts';
import type { Measured } from '../../actors/tasks/tasks.ts';

/** A request that was answered or abandoned. */
export interface MeasuredRequest {
  type: 'request';
  /** A route such as `/tasks/{id}`; `other` for a request rejected before routing. */
  route: string;
  status: number;
  /** `refused` for 4xx and a JSON-RPC error; `failed` for 5xx and a truncated response. */
  outcome: 'ok' | 'refused' | 'failed';
  /** Milliseconds from the request headers to the end of the response. */
  milliseconds: number;
}

/** A measurement of a task, a request or the store. */
export type Measurement =
  | Measured
  | MeasuredRequest
  | { type: 'authFailure'; reason: AuthFailure }
  | { type: 'rateLimited' }
  | { type: 'commit'; milliseconds: number };

/** Counts the measurements of one family of metrics, and ignores all others. */
export type Observe = (measurement: Measurement) => void;
