import { doubledPause, longestRetryAfter } from '../back-off.ts';

/** Which model a call goes to. */
export interface ModelName {
  provider: string;
  model: string;
}

/** Who said a turn: a model, and where it was asked. */
export interface ModelSpeaker extends ModelName {
  /** A digest of the address that was asked; absent in what older releases kept. */
  endpoint?: string;
}

/**
 * What went wrong with a call to a model. `busy`, `late`, `broken` and `unreachable` may pass (429, 408, 5xx, network);
 * `refused` and `unusable` do not, and no other model is asked instead (docs/contract/models.md).
 */
export type CallFault = 'busy' | 'late' | 'broken' | 'unreachable' | 'refused' | 'unusable';

/** A call to a model that failed. */
export interface FailedCall extends ModelName {
  fault: CallFault;
  /** What is wrong and what to do, in one sentence that holds no secret. */
  text: string;
  /** True when somebody has already been shown words of the answer, which nobody can withdraw. */
  hasSpoken: boolean;
  /** Epoch milliseconds at which the call ended. */
  at: number;
  /** Epoch milliseconds before which the model is left alone. */
  readyAt: number;
}

/** How a call to a model ended; the words themselves never enter a chart. */
export type CallOutcome = { kind: 'answered' } | { kind: 'failed'; failure: FailedCall };

const passing: ReadonlySet<CallFault> = new Set(['busy', 'late', 'broken', 'unreachable']);

/** True when a fault may be over with the next call, or with another model. */
export function isPassing(fault: CallFault): boolean {
  return passing.has(fault);
}

/** The longest that a model is left alone of its own accord, in milliseconds. */
const longestCooldown = 60_000;

/**
 * How long a model is left alone after so many passing failures in a row, in milliseconds: as long as it asked for by
 * Retry-After, up to ten minutes, else a second that doubles with each failure up to a minute.
 */
export function cooldownOf(failures: number, retryAfter: number | null): number {
  if (retryAfter === null) return doubledPause(failures, longestCooldown);
  return Math.min(Math.max(0, retryAfter), longestRetryAfter);
}
