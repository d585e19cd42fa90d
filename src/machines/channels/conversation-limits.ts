import { doubledPause } from '../back-off.ts';

/** Milliseconds that a thread waits for an answer before it is told that the task goes on (docs/contract/chat.md). */
export const answerWindow = 360_000;

/** Messages of one thread that may wait, the one at work included. */
export const mostTurns = 20;

/** Times that a message is put to an agent that is busy or cannot be reached. */
export const mostAsks = 5;

/** Times that something is put into a thread, which with the rests take about three quarters of an hour. */
export const mostAttempts = 16;

/** Times that a mark is tried; it is no more than a courtesy. */
export const mostMarkings = 3;

/** The longest pause that an agent may ask for, in milliseconds, before the thread is told instead. */
export const longestPause = 60_000;

const longestRest = 300_000;

/** The pause after so many tries that failed, in milliseconds: doubled from a second to five minutes. */
export function restAfter(tries: number, asked: number | null): number {
  return Math.min(longestRest, Math.max(doubledPause(tries, longestRest), asked ?? 0));
}
