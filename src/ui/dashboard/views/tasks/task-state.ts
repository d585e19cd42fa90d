import type { Tone } from '../../components/tone.ts';

/** The states of a task in filter order. */
export const taskStates = [
  'submitted',
  'working',
  'deferred',
  'completed',
  'failed',
  'canceled',
] as const;

/** Returns the colour of a state: amber for a wait, green for success, red for failure. */
export function toneOfState(state: string): Tone {
  if (state === 'deferred') return 'hold';
  if (state === 'completed') return 'allow';
  return state === 'failed' ? 'deny' : 'plain';
}

/** Returns true for a final state. */
export function isFinal(state: string): boolean {
  return state === 'completed' || state === 'failed' || state === 'canceled';
}

/** Returns the display name of a state; a waiting call is called held. */
export function wordOfState(state: string): string {
  return state === 'deferred' ? 'held' : state;
}
