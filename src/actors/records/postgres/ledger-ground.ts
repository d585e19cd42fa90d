import { createHash } from 'node:crypto';
import type { QueryResult } from 'pg';
import type { FirstEffect } from '../../../machines/domain/ledger.ts';
import { minus, plus } from '../../../machines/exact-decimal.ts';
import type { CallEffect, Measured, MeasureInput } from '../../../machines/governance/bounds.ts';
import {
  effectiveStates,
  firstOf,
  type LedgerRow,
  ledgerNames,
  mostNewest,
  reservedRows,
} from '../store/ledger-rows.ts';
import type { CountedTimes } from '../store/limit-period.ts';
import { type LimitTotals, measureCall } from '../store/measure-call.ts';
import { PendingReservations } from '../store/pending-reservations.ts';
import type { Statement } from './commit-batch.ts';
import { rowsOfSum, stillCounts, sumsOf } from './ledger-sums.ts';
import { parameterOf } from './parameter-of.ts';

/** A call to measure, and when, in epoch milliseconds. */
export interface Asked {
  asked: MeasureInput;
  now: number;
}

/** The clock of the server in epoch milliseconds, as SQL: it ends what is pending at all daemons at the same moment. */
export const serverNow = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** Returns the statement that waits until no other call that shares a limit or an effect with these is measured. */
export function lockKeys(asked: readonly Asked[]): Statement {
  const keys = asked.flatMap(({ asked: { bounds } }) => [
    ...bounds.limits.map(({ name, key }) => ['limit', name, key]),
    ...(bounds.effect === null ? [] : [['effect', bounds.effect.key]]),
  ]);
  const numbers = new Set(keys.map((key) => numberOf(JSON.stringify(key))));
  // All daemons lock in the same order, so that none waits for another that waits for it.
  const sorted = [...numbers].toSorted((one, other) => (one < other ? -1 : 1));
  const text = 'SELECT pg_advisory_xact_lock(key) FROM unnest($1::bigint[]) AS key';
  return { text, values: [sorted.map(String)] };
}

function numberOf(text: string): bigint {
  return createHash('sha256').update(text).digest().readBigInt64BE(0);
}

/**
 * Deletes what is pending no more. A row that the commit of a start has locked stays, and counts. Without its row a start is
 * refused.
 */
export const dropEnded: Statement = {
  text: `DELETE FROM ledger WHERE position = ANY(ARRAY(SELECT position FROM ledger
    WHERE state = 'pending' AND ends_at <= ${serverNow} FOR UPDATE SKIP LOCKED))`,
  values: [],
};

/** Returns the statements that read the state of the ledger for calls; `isLocked` if no other daemon measures them now. */
export function readGround(
  asked: readonly Asked[],
  times: CountedTimes,
  isLocked: boolean,
): Statement[] {
  const limits = asked.flatMap(({ asked: { bounds }, now }, call) =>
    bounds.limits.map(({ name, key, period }, n) => ({
      ...{ call, n, name, key, after: times.of(period, now).after },
    })),
  );
  const effects = asked.flatMap(({ asked: { bounds, call }, now }, n) => {
    if (bounds.effect === null) return [];
    const { key } = bounds.effect;
    return [{ n, key, after: afterWithin(bounds.effect, now), own: call.id }];
  });
  return [
    { text: sumLimits, values: [parameterOf(limits), isLocked] },
    { text: findFirst, values: [parameterOf(effects), isLocked] },
    { text: ofCalls, values: [asked.map(({ asked: { call } }) => call.id)] },
    { text: `SELECT max(at) AS at FROM ledger WHERE kind = 'restored'`, values: [] },
  ];
}

const counts = stillCounts('$2::boolean', serverNow);

const sumLimits = `SELECT x.call, x.n, s.used, s.reserved, s.loose
  FROM json_to_recordset($1::text::json) AS x(call integer, n integer, name text, key text, after bigint)
  CROSS JOIN LATERAL (${sumsOf({ name: 'x.name', key: 'x.key', after: 'x.after', counts })}) AS s`;

const findFirst = `SELECT x.n, f.*
  FROM json_to_recordset($1::text::json) AS x(n integer, key text, after bigint, own text)
  CROSS JOIN LATERAL (SELECT ${ledgerNames} FROM ledger AS l
    WHERE l.kind = 'effect' AND l.key = x.key
      AND (l.at > x.after OR l.state IN ('pending', 'running')) AND l.call_id <> x.own
      AND l.state IN ${effectiveStates} AND ${counts}
    ORDER BY l.at DESC, l.position DESC LIMIT 1) AS f`;

const ofCalls = `SELECT ${ledgerNames} FROM ledger WHERE call_id = ANY($1::text[])`;

/** Sums of the keys of the newest calls of a limit, each with the requester of its newest call. */
export const readStandings = `WITH calls AS (SELECT key, requester, at FROM ledger
    WHERE kind = 'limit' AND key <> '' AND name = $1 AND at > $3 ORDER BY at DESC LIMIT ${mostNewest}),
  newest AS (SELECT DISTINCT ON (key) key, requester, at FROM calls ORDER BY key, at DESC)
  SELECT k.key, s.used, s.reserved, k.requester
  FROM (SELECT * FROM newest ORDER BY at DESC, key LIMIT $4) AS k
  CROSS JOIN LATERAL (${sumsOf({ name: '$1', key: 'k.key', after: '$3', counts })}) AS s
  ORDER BY k.at DESC, k.key`;

/** A call as measured, and the rows that are to be reserved for it. */
export interface Reserving {
  measured: Measured;
  rows: LedgerRow[];
}

/** Measures calls one after the other from the results of `readGround`; each counts what those before it reserved. */
export function measureAll(
  asked: readonly Asked[],
  [limits, effects, own, restored]: readonly QueryResult[],
  times: CountedTimes,
): Reserving[] {
  const firsts = new Map(rowsOf<LedgerRow & { n: number }>(effects).map((row) => [row.n, row]));
  const sums = new Map(rowsOf<SumRow>(limits).map((row) => [`${row.call} ${row.n}`, row] as const));
  const ofOwn = rowsOf<LedgerRow>(own);
  const restoredAt = rowsOf<{ at: number | null }>(restored)[0]?.at ?? Number.NEGATIVE_INFINITY;
  const reserved = new PendingReservations();
  return asked.map(({ asked: one, now }, index) => {
    const { call, bounds } = one;
    const totals = bounds.limits.map(({ name, key, period }, n): LimitTotals => {
      const { after, until } = times.of(period, now);
      const sum = sums.get(`${index} ${n}`);
      const found = { used: exact(sum?.used), reserved: exact(sum?.reserved) };
      const others = withoutOwn(found, ofOwn, { call: call.id, name, key, after });
      const added = reserved.sumOf(name, key, { after, but: call.id });
      const isIncomplete = restoredAt > after;
      return { used: others.used, reserved: plus(others.reserved, added), until, isIncomplete };
    });
    const first = firstFor({ asked: one }, firsts.get(index), reserved);
    const measured = measureCall(one, { totals, first, now });
    const rows = reservedRows(one, measured.reserved ?? [], { at: now, state: 'pending' });
    reserved.put(call.id, rows, now);
    return { measured, rows };
  });
}

/** Returns a sum of the server without the zeros at its end. */
export function exact(sum = '0'): string {
  return plus(sum, '0');
}

function afterWithin({ within }: CallEffect, now: number): number {
  return within === null ? Number.MIN_SAFE_INTEGER : now - within;
}

interface SumRow {
  call: number;
  n: number;
  used: string;
  reserved: string;
  /** Rows of ended calls that no stored sum has. */
  loose: number;
}

/** Returns the keys of the limits of calls, from the results of `readGround`, that have rows for another stored sum. */
export function keysToSum(
  asked: readonly Asked[],
  [limits]: readonly QueryResult[],
): (readonly [name: string, key: string])[] {
  return rowsOf<SumRow>(limits).flatMap(({ call, n, loose }) => {
    const limit = loose < rowsOfSum ? undefined : asked[call]?.asked.bounds.limits[n];
    return limit === undefined ? [] : [[limit.name, limit.key] as const];
  });
}

function firstFor(
  {
    asked: {
      bounds: { effect },
      call,
    },
  }: Pick<Asked, 'asked'>,
  stored: LedgerRow | undefined,
  reserved: PendingReservations,
): FirstEffect | null {
  if (effect === null) return null;
  const row = reserved.newestOf(effect.key, call.id) ?? stored;
  return row === undefined ? null : firstOf(row);
}

/** Removes what a call itself counts for, such as one that started before a restart. */
function withoutOwn(
  { used, reserved }: Pick<LimitTotals, 'used' | 'reserved'>,
  own: readonly LedgerRow[],
  { call, name, key, after }: { call: string; name: string; key: string; after: number },
): Pick<LimitTotals, 'used' | 'reserved'> {
  const sums = { used, reserved };
  for (const row of own) {
    const isCounted = row.kind === 'limit' && row.call_id === call && row.name === name;
    if (!isCounted || row.key !== key || row.at <= after || row.state === 'returned') continue;
    const sum = row.state === 'running' || row.state === 'pending' ? 'reserved' : 'used';
    sums[sum] = minus(sums[sum], row.amount);
  }
  return sums;
}

function rowsOf<Row>(result: QueryResult | undefined): Row[] {
  return (result?.rows ?? []) as Row[];
}
