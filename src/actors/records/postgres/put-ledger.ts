import type { LedgerChange } from '../../../machines/domain/ledger.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import {
  entryId,
  isEntry,
  type LedgerRow,
  ledgerColumns,
  ledgerNames,
  openOutcomeOf,
  outcomeRow,
  ranRow,
  requesterOf,
  settledBefore,
  settledRow,
} from '../store/ledger-rows.ts';
import { contradicted, lateSuccesses, settledEvent } from '../store/settled-event.ts';
import type { TaskChange } from '../store/task-rows.ts';
import type { TaskWrite } from '../store/task-store.ts';
import { exactly, type Settling, type Statement } from './commit-batch.ts';
import { parameterOf } from './parameter-of.ts';

type Started = Extract<LedgerChange, { type: 'started' }>;
type Ended = Extract<LedgerChange, { type: 'ended' }>;

/** Columns of a row of the ledger as read from JSON. */
export const ledgerRecord = ledgerColumns
  .map((name) => `${name} ${name === 'at' || name === 'until' ? 'bigint' : 'text'}`)
  .join(', ');

/** Returns the calls whose rows a commit has to read: those that start or succeed late, and those that a person settles. */
export function callsToLock(
  writes: readonly TaskWrite[],
  settlings: readonly Settling[],
): string[] {
  const started = writes.flatMap(({ change }) =>
    startsOf(change).flatMap(({ callId, entries }) => (entries.length === 0 ? [] : [callId])),
  );
  const late = writes.flatMap(({ change }) => lateSuccesses(change));
  return [...started, ...late, ...settlings.map(({ callId }) => callId)];
}

/** Keeps the rows of these calls from being deleted or settled by another daemon until the commit. */
export const lockCalls = `SELECT ${ledgerNames} FROM ledger WHERE call_id = ANY($1::text[])
  ORDER BY position FOR UPDATE`;

/** Returns whether what was reserved for the calls that a change starts has not ended. */
export function isReserved(change: TaskChange, rows: readonly LedgerRow[]): boolean {
  return startsOf(change).every(({ callId, entries }) => {
    const known = rows.filter((row) => row.call_id === callId).map(entryId);
    return entries.every((entry) => known.includes(entryId(entry)));
  });
}

/** Returns the statements that write what changes of tasks change in the ledger; `rows` are from `settleCalls`. */
export function putLedger(writes: readonly TaskWrite[], rows: readonly LedgerRow[]): Statement[] {
  const started = writes.flatMap(({ change }) => startsOf(change).flatMap(startedRows));
  const ended = writes.flatMap(({ change }) => endsOf(change));
  const ran = writes.flatMap(({ change }) =>
    startsOf(change).map((one) => ranRow(one, change.task)),
  );
  return [
    ...(ran.length === 0 ? [] : [insertRows(ran)]),
    ...(started.length === 0
      ? []
      : [exactly({ text: start, values: [parameterOf(started)] }, started.length)]),
    ...(ended.length === 0 ? [] : endAll(ended)),
    ...writes.flatMap(({ change }) => contradict(change, rows)),
  ];
}

function contradict(change: TaskChange, rows: readonly LedgerRow[]): Statement[] {
  return lateSuccesses(change).flatMap((callId) => {
    const own = rows.filter((row) => row.call_id === callId);
    const statement = contradicted(own, change.task.changedAt);
    const text = `UPDATE ledger SET settled = $2 WHERE call_id = $1 AND kind = 'outcome'`;
    return statement === null ? [] : [{ text, values: [callId, JSON.stringify(statement)] }];
  });
}

function startsOf({ ledger = [] }: TaskChange): Started[] {
  return ledger.filter((change) => change.type === 'started');
}

function startedRows({ callId, entries, approver }: Started) {
  return entries.map(({ kind, name, key }) => ({
    ...{ call_id: callId, kind, name, key, approver: approver ?? null },
  }));
}

function endsOf({ ledger = [], task }: TaskChange) {
  const ends = ledger.filter((change): change is Ended => change.type === 'ended');
  return ends.map(({ callId, tool, argsSha256, end, result }) => ({
    ...{ call_id: callId, task_id: task.id, tool, args_sha256: argsSha256, at: task.changedAt },
    ...{ requester: requesterOf(task.requester), end, result: result ?? null },
  }));
}

const start = `UPDATE ledger SET state = 'running', ends_at = NULL,
    approver = coalesce(x.approver, ledger.approver)
  FROM json_to_recordset($1::text::json) AS x(call_id text, kind text, name text, key text, approver text)
  WHERE ledger.call_id = x.call_id AND ledger.kind = x.kind AND ledger.name = x.name
    AND ledger.key = x.key RETURNING 1`;

/** An outcome that is known stays; so does the statement of a person, unless the call turns out to have succeeded. */
function endAll(ended: ReturnType<typeof endsOf>): Statement[] {
  const values = [parameterOf(ended), ended.map(({ call_id: id }) => id)];
  const rows = `json_to_recordset($1::text::json) AS x(call_id text, task_id text, tool text,
    args_sha256 text, at bigint, requester text, "end" text, result text)`;
  const ofCall = 'l.call_id = ANY($2::text[]) AND l.call_id = x.call_id';
  const isSettled = `EXISTS (SELECT 1 FROM ledger AS o WHERE o.call_id = x.call_id
    AND o.kind = 'outcome' AND o.state = 'settled')`;
  const isOpen = `l.kind IN ('limit', 'effect') AND l.state IN ('pending', 'running', 'unknown')`;
  const outcomes = ended.filter(({ end }) => end === 'unknown').map(outcomeRow);
  return [
    {
      text: `DELETE FROM ledger AS l USING ${rows}
        WHERE ${ofCall} AND x."end" = 'not_run' AND (${isOpen} OR l.kind = 'ran') AND NOT ${isSettled}`,
      values,
    },
    {
      text: `UPDATE ledger AS l SET state = x."end", ends_at = NULL,
          result = CASE l.kind WHEN 'effect' THEN x.result END FROM ${rows}
        WHERE ${ofCall} AND x."end" <> 'not_run' AND l.kind IN ('limit', 'effect')
          AND CASE WHEN ${isSettled} THEN x."end" = 'succeeded' ELSE ${isOpen} END`,
      values,
    },
    {
      text: `DELETE FROM ledger AS l USING ${rows}
        WHERE ${ofCall} AND x."end" <> 'unknown' AND l.kind = 'outcome' AND l.state = 'unknown'`,
      values,
    },
    ...(outcomes.length === 0 ? [] : [insertRows(outcomes)]),
  ];
}

/** Returns the statement that adds rows; those that are there already stay. */
export function insertRows(rows: readonly LedgerRow[], endsAt = 'NULL'): Statement {
  return {
    text: `INSERT INTO ledger (${ledgerNames}, ends_at) SELECT ${ledgerNames}, ${endsAt}
      FROM json_to_recordset($1::text::json) AS x(${ledgerRecord}) ON CONFLICT DO NOTHING`,
    values: [parameterOf(rows)],
  };
}

/**
 * Returns the statements that store the statements of people, with the events of those that count, and the rows of the calls
 * with the outcomes as settled.
 */
export function settleCalls(settlings: readonly Settling[], before: readonly LedgerRow[]) {
  const events: AuditEvent[] = [];
  const statements: Statement[] = [];
  let rows = before;
  for (const settling of settlings) {
    const { callId, settled, event } = settling;
    const own = rows.filter((row) => row.call_id === callId);
    const known = settledBefore(own);
    if (known !== null) {
      settling.result = known;
      continue;
    }
    const row = settledRow(own, settled);
    const outcome = openOutcomeOf(row, own.filter(isEntry));
    settling.result = outcome;
    events.push(settledEvent(event, outcome, settled));
    statements.push(...settle(row, settled));
    rows = [...rows.filter(({ call_id: id, kind }) => id !== callId || kind !== 'outcome'), row];
  }
  return { statements, events, rows };
}

function settle(row: LedgerRow, { ran }: Settling['settled']): Statement[] {
  return [
    {
      text: `UPDATE ledger SET state = $2 WHERE call_id = $1 AND kind IN ('limit', 'effect')`,
      values: [row.call_id, ran ? 'succeeded' : 'returned'],
    },
    {
      text: `DELETE FROM ledger WHERE call_id = $1 AND kind = ANY($2::text[])`,
      values: [row.call_id, ran ? ['outcome'] : ['outcome', 'ran']],
    },
    insertRows([row]),
  ];
}
