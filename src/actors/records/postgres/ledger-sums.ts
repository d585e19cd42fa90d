import { usedStates } from '../store/ledger-rows.ts';

/** Number of rows that one stored sum adds up. */
export const rowsOfSum = 250;

/** Once no other daemon measures, a pending row that is still there counts until its start is committed or it is deleted. */
export const stillCounts = (isLocked: string, serverNow: string) =>
  `(${isLocked} OR l.state <> 'pending' OR l.ends_at > ${serverNow})`;

interface Place {
  /** SQL of the name and the key of a limit. */
  name: string;
  key: string;
  /** SQL of the moment after which calls count, in epoch milliseconds. */
  after: string;
  /** SQL condition on rows `l` that counts pending ones. */
  counts: string;
}

/**
 * Returns the sums of a key of a limit as a query: stored sums of the period, the rows that no stored sum has, and those of
 * stored sums in which the period begins. `loose` is the number of rows that a stored sum could have.
 */
export function sumsOf({ name, key, after, counts }: Place): string {
  const ofLimit = `l.kind = 'limit' AND l.name = ${name} AND l.key = ${key} AND l.at > ${after}`;
  return `SELECT sum(p.used)::text AS used, sum(p.reserved)::text AS reserved, sum(p.loose)::integer AS loose FROM (
    SELECT coalesce(sum(l.amount::numeric) FILTER (WHERE l.state IN ${usedStates}), 0) AS used,
      coalesce(sum(l.amount::numeric) FILTER (WHERE l.state IN ('pending', 'running')), 0) AS reserved,
      count(*) FILTER (WHERE l.state NOT IN ('pending', 'running')) AS loose
      FROM ledger AS l WHERE ${ofLimit} AND l.result IS NULL AND ${counts}
    UNION ALL SELECT coalesce(sum(s.used), 0), 0, 0 FROM ledger_sums AS s
      WHERE s.name = ${name} AND s.key = ${key} AND s.first_at > ${after}
    UNION ALL SELECT coalesce(sum(l.amount::numeric) FILTER (WHERE l.state IN ${usedStates}), 0), 0, 0
      FROM ledger_sums AS s JOIN ledger AS l
        ON l.kind = 'limit' AND l.result = s.id::text AND l.at > ${after}
      WHERE s.name = ${name} AND s.key = ${key} AND s.first_at <= ${after} AND s.last_at > ${after}) AS p`;
}

/** Stores the sum of the oldest rows of a key whose calls have ended, if there are as many as asked for. */
export const sumUp = `WITH ended AS (SELECT position, at, amount, state FROM ledger
    WHERE kind = 'limit' AND name = $1 AND key = $2 AND result IS NULL AND state NOT IN ('pending', 'running')
    ORDER BY at LIMIT $3 FOR UPDATE SKIP LOCKED),
  summed AS (INSERT INTO ledger_sums (name, key, first_at, last_at, calls, used)
    SELECT $1, $2, min(at), max(at), count(*),
      coalesce(sum(amount::numeric) FILTER (WHERE state IN ${usedStates}), 0)
    FROM ended HAVING count(*) = $3 RETURNING id)
  UPDATE ledger SET result = summed.id FROM summed, ended WHERE ledger.position = ended.position
  RETURNING ledger.position`;
