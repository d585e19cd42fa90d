import type { Failure, Usage } from '../domain/task.ts';
import { countUsage } from './count-usage.ts';
import type { Thought } from './task-events.ts';

/** The resource limits of one run of a task. */
export interface TaskLimits {
  /** Number of model turns. */
  turns: number;
  /** Number of consecutive turns with only errors. */
  failedTurns: number;
  /** Total input and output tokens of all turns; `null` for no limit. */
  tokens: number | null;
  /** Milliseconds of running time without waits for people. `null` for no limit. */
  time: number | null;
}

/** The resources that one run of a task has used. */
export interface Spent {
  turns: number;
  /** Milliseconds of completed effects. */
  time: number;
  /** The models' usage; `null` before the first turn. */
  usage: Usage | null;
  /** Ratio of the provider's token count to the estimate in the last turn that reported it; 1 before that. */
  tokensPerEstimate: number;
}

/** The default limits of a run (docs/contract/models.md). */
export const defaultLimits: TaskLimits = {
  turns: 50,
  failedTurns: 5,
  tokens: null,
  time: null,
};

/** The usage of a run before its first turn. */
export const nothingSpent: Spent = { turns: 0, time: 0, usage: null, tokensPerEstimate: 1 };

/** Adds the usage of a model turn. */
export function spendTurn(spent: Spent, thought: Thought): Spent {
  const { duration, inputTokens, estimatedTokens = 0 } = thought;
  return {
    ...spendTime(spent, duration),
    usage: countUsage(spent.usage ?? undefined, thought),
    ...(inputTokens > 0 && estimatedTokens > 0
      ? { tokensPerEstimate: corrected(inputTokens / estimatedTokens) }
      : {}),
  };
}

/** Adds the milliseconds of an effect. */
export function spendTime(spent: Spent, duration: number): Spent {
  return { ...spent, time: spent.time + Math.max(0, duration) };
}

/** Returns the input and output tokens of a run. */
export function tokensOf({ usage }: Spent): number {
  return usage === null ? 0 : usage.inputTokens + usage.outputTokens;
}

/**
 * Returns the token or time limit that a run has reached, `busy` milliseconds after its last effect; `null` if none.
 */
export function limitReached(spent: Spent, limits: TaskLimits, busy = 0): 'tokens' | 'time' | null {
  if (limits.tokens !== null && tokensOf(spent) >= limits.tokens) return 'tokens';
  return limits.time !== null && spent.time + busy >= limits.time ? 'time' : null;
}

type LimitName = 'turns' | 'errors' | 'tokens' | 'time';

const limitBy: { readonly [Kind in Failure['kind']]?: LimitName } = {
  turnLimit: 'turns',
  errorLimit: 'errors',
  tokenLimit: 'tokens',
  timeLimit: 'time',
};

/** Names the limit that ended a task, for the audit log; `undefined` for any other end. */
export function limitOf(failure: Failure | null): LimitName | undefined {
  return failure === null ? undefined : limitBy[failure.kind];
}

/**
 * Never below the estimate, because some providers do not count cached tokens. The upper bound protects against invalid
 * counts.
 */
function corrected(ratio: number): number {
  return Number.isFinite(ratio) ? Math.min(4, Math.max(1, ratio)) : 1;
}
