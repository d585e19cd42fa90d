import { type DrawnState, isWithin } from './drawn-chart.ts';

/** Names the colour of a state: what an end means has one, and a wait is amber wherever it stands. */
export function toneOf({ id }: DrawnState): string {
  if (isWithin(id, 'deferred')) return 'hold';
  return { completed: 'allow', failed: 'deny' }[id] ?? 'ink';
}
