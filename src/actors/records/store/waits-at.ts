import { isKnown } from './task-row.ts';
import type { WaitFigures } from './task-rows.ts';

/** Returns the SQL that describes the waiting calls at a time; each part reads one entry of an index, or overdue rows. */
export function waitsAt(now: string): string {
  return `SELECT (SELECT min(changed_at) FROM tasks WHERE state = 'deferred') AS oldest,
    (SELECT min(expires_at) FROM tasks WHERE state = 'deferred') AS expires,
    (SELECT count(*) FROM (SELECT 1 FROM tasks WHERE deadline_at <= ${now} AND ${isKnown} LIMIT 1000) AS late) AS overdue`;
}

/** Reads the columns of `waitsAt`. */
export function waitFigures(oldest: unknown, expires: unknown, overdue: unknown): WaitFigures {
  const timeOf = (value: unknown) => (value === null || value === undefined ? null : Number(value));
  return { oldestAt: timeOf(oldest), expiresAt: timeOf(expires), overdue: Number(overdue ?? 0) };
}
