import { countUsage } from './count-usage.ts';
import type { Failure, Usage } from './task.ts';
import type { Thought } from './task-events.ts';

/** How much one run of a task may use up before it is ended. */
export interface TaskLimits {
  /** Turns of the model. */
  turns: number;
  /** Turns in a row that come to nothing but errors. */
  failedTurns: number;
  /** Tokens that the model reads and writes, in all turns together; `null` for no limit. */
  tokens: number | null;
  /** Milliseconds of work; the wait for a person is not among them. `null` for no limit. */
  time: number | null;
}

/** What one run of a task has used up. */
export interface Spent {
  turns: number;
  /** Milliseconds of work that has ended. */
  time: number;
  /** What the models took; `null` before the first turn. */
  usage: Usage | null;
  /** How many tokens the provider counted for each that was estimated, in the last turn that says so; 1 until then. */
  tokensPerEstimate: number;
}

/** The limits of a run that nobody configured otherwise (docs/contract/models.md). */
export const defaultLimits: TaskLimits = {
  turns: 50,
  failedTurns: 5,
  tokens: null,
  time: null,
};

/** What a run has used up before its first turn. */
export const nothingSpent: Spent = { turns: 0, time: 0, usage: null, tokensPerEstimate: 1 };

/** Adds what a turn of the model used up to what the run had. */
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

/** Adds the milliseconds that an effect took to what the run had used up. */
export function spendTime(spent: Spent, duration: number): Spent {
  return { ...spent, time: spent.time + Math.max(0, duration) };
}

/** Returns the tokens that a run has read and written. */
export function tokensOf({ usage }: Spent): number {
  return usage === null ? 0 : usage.inputTokens + usage.outputTokens;
}

/** Tells which limit of tokens or time a run has reached, `busy` milliseconds after its last effect; `null` for none. */
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

/** Never tells more than was estimated, as some count without what they have cached, and bounds what nonsense may do. */
function corrected(ratio: number): number {
  return Number.isFinite(ratio) ? Math.min(4, Math.max(1, ratio)) : 1;
}
