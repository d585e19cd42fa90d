import type { Usage } from './task.ts';
import type { Thought } from './task-events.ts';

/** Adds what one turn of the model took to what the turns before it took. */
export function countUsage(before: Usage | undefined, thought: Thought): Usage {
  const { model, inputTokens, outputTokens, duration } = thought;
  return {
    model,
    inputTokens: counted(inputTokens) + (before?.inputTokens ?? 0),
    outputTokens: counted(outputTokens) + (before?.outputTokens ?? 0),
    duration: duration + (before?.duration ?? 0),
  };
}

/** A provider may say anything: what is no count is none. */
function counted(tokens: number): number {
  return Number.isFinite(tokens) ? Math.max(0, tokens) : 0;
}
