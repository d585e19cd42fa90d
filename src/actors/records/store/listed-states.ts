import type { ListedState } from './task-page.ts';

/**
 * Returns the SQL conditions of a state, one for each range that an index provides in order; they are mutually
 * exclusive. `elsewhere` is SQL that finds working rows whose call waits at another program.
 */
export function conditionsOfState(state: ListedState | undefined, elsewhere: string): string[] {
  if (state === undefined) return [];
  if (state === 'parked') return [`state = 'deferred'`];
  if (state === 'deferred') return [`state = 'deferred'`, `state = 'working' AND ${elsewhere}`];
  return [state === 'working' ? `state = 'working' AND NOT (${elsewhere})` : `state = '${state}'`];
}
