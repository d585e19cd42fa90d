import type { Tone } from '../../components/tone.ts';

/** The states of a task, in the order in which a filter offers them. */
export const taskStates = [
  'submitted',
  'working',
  'deferred',
  'completed',
  'failed',
  'canceled',
] as const;

/** The colour of a state: amber waits for a person, green has ended well, red has not. */
export function toneOfState(state: string): Tone {
  if (state === 'deferred') return 'hold';
  if (state === 'completed') return 'allow';
  return state === 'failed' ? 'deny' : 'plain';
}

/** Says whether nothing follows a state. */
export function isFinal(state: string): boolean {
  return state === 'completed' || state === 'failed' || state === 'canceled';
}

/** What a person reads for a state: a call that waits is held. */
export function wordOfState(state: string): string {
  return state === 'deferred' ? 'held' : state;
}
