import type { ListedState } from './task-page.ts';

/**
 * Returns the SQL conditions of a state, one for each run of rows that an index has in order; a row fits one of them at
 * most. `elsewhere` is the SQL that finds, of the rows that work, those whose call waits at another program.
 */
export function conditionsOfState(state: ListedState | undefined, elsewhere: string): string[] {
  if (state === undefined) return [];
  if (state === 'parked') return [`state = 'deferred'`];
  if (state === 'deferred') return [`state = 'deferred'`, `state = 'working' AND ${elsewhere}`];
  return [state === 'working' ? `state = 'working' AND NOT (${elsewhere})` : `state = '${state}'`];
}
