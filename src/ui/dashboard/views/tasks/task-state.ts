import type { Tone } from '../../components/tone.ts';

/** Returns the colour of a state: amber for a wait, green for success, red for failure. */
export function toneOfState(state: string): Tone {
  if (state === 'deferred') return 'hold';
  if (state === 'completed') return 'allow';
  return state === 'failed' ? 'deny' : 'plain';
}

/** Returns the display name of a state; a waiting call is called held. */
export function wordOfState(state: string): string {
  return state === 'deferred' ? 'held' : state;
}
