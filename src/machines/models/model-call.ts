import { doubledPause, longestRetryAfter } from '../back-off.ts';
import type { CallFault } from '../domain/call-fault.ts';
import type { ModelName } from '../domain/model-speaker.ts';

/** A failed model call. */
export interface FailedCall extends ModelName {
  fault: CallFault;
  /** The problem and its fix in one sentence without secrets. */
  text: string;
  /** True if part of the answer was already shown and cannot be withdrawn. */
  hasSpoken: boolean;
  /** Epoch milliseconds at which the call ended. */
  at: number;
  /** Epoch milliseconds before which the model must not be called. */
  readyAt: number;
}

/** The outcome of a model call. The model's text never enters a chart. */
export type CallOutcome = { kind: 'answered' } | { kind: 'failed'; failure: FailedCall };

const passing: ReadonlySet<CallFault> = new Set(['busy', 'late', 'broken', 'unreachable']);

/** True if a fault may pass with the next call or another model. */
export function isPassing(fault: CallFault): boolean {
  return passing.has(fault);
}

/** Maximum delay in milliseconds before calling a model again, unless the provider requests a longer one. */
const longestCooldown = 60_000;

/**
 * Returns the delay in milliseconds before a model may be called again after consecutive transient failures: its
 * Retry-After, up to ten minutes; otherwise one second, doubled with each failure up to a minute.
 */
export function cooldownOf(failures: number, retryAfter: number | null): number {
  if (retryAfter === null) return doubledPause(failures, longestCooldown);
  return Math.min(Math.max(0, retryAfter), longestRetryAfter);
}
