import type { Usage } from '../domain/task.ts';
import type { Thought } from './task-events.ts';

/** Adds the usage of one model turn to the usage of earlier turns. */
export function countUsage(before: Usage | undefined, thought: Thought): Usage {
  const { model, inputTokens, outputTokens, duration } = thought;
  return {
    model,
    inputTokens: counted(inputTokens) + (before?.inputTokens ?? 0),
    outputTokens: counted(outputTokens) + (before?.outputTokens ?? 0),
    duration: duration + (before?.duration ?? 0),
  };
}

/** A provider's counts are unvalidated; an invalid count becomes 0. */
function counted(tokens: number): number {
  return Number.isFinite(tokens) ? Math.max(0, tokens) : 0;
}
