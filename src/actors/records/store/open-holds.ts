import { type OpenHoldState, openHoldStates } from '../../../machines/domain/hold.ts';
import type { Task } from '../../../machines/domain/task.ts';

/** Returns the column `open_hold` of a task; `null` for a task that is no hold, and for a hold whose end is known. */
export function openHoldOf({ hold, state: taskState }: Task): OpenHoldState | null {
  if (hold === undefined) return null;
  if (taskState === 'deferred') return 'waiting';
  return openHoldStates.find((state) => state === hold.account?.state) ?? null;
}

/**
 * SQL that counts the open holds by state. A release that lacks the column changes tasks without it, so the other
 * columns confirm it: such a hold is not counted, and none is counted that ended.
 */
export const countOpenHolds = `SELECT open_hold AS state, count(*) AS holds FROM tasks
  WHERE open_hold IS NOT NULL AND CASE open_hold
    WHEN 'waiting' THEN state = 'deferred'
    WHEN 'unaccounted' THEN true
    ELSE deadline_at IS NOT NULL END
  GROUP BY open_hold`;
