import { doubledPause } from '../back-off.ts';

/**
 * Milliseconds that a thread waits for an answer before it is notified that the task continues (docs/contract/chat.md).
 */
export const answerWindow = 360_000;

/** Maximum number of pending messages of one thread, including the one being processed. */
export const mostTurns = 20;

/** Maximum number of times that a message is sent to an agent that is busy or unreachable. */
export const mostAsks = 5;

/** Maximum number of attempts to post to a thread; with the delays, about three quarters of an hour. */
export const mostAttempts = 16;

/** Maximum number of attempts to set a mark, which is optional feedback. */
export const mostMarkings = 3;

/** Maximum delay in milliseconds that an agent may request; beyond it, the thread is notified instead. */
export const longestPause = 60_000;

const longestRest = 300_000;

/** Returns the delay in milliseconds after failed attempts: doubled from one second to five minutes. */
export function restAfter(tries: number, asked: number | null): number {
  return Math.min(longestRest, Math.max(doubledPause(tries, longestRest), asked ?? 0));
}
