import { type DrawnState, isWithin } from './drawn-chart.ts';

/** Returns a state's colour: the outcome's colour for a final state, and amber for any wait. */
export function toneOf({ id }: DrawnState): string {
  if (isWithin(id, 'deferred')) return 'hold';
  return { completed: 'allow', failed: 'deny' }[id] ?? 'ink';
}
