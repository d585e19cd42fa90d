import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { FirstEffect, LedgerChange, OpenOutcome } from '../../../machines/domain/ledger.ts';
import type { ToolCall } from '../../../machines/domain/task.ts';
import { minus, plus } from '../../../machines/exact-decimal.ts';
import type {
  CallEffect,
  CallLimit,
  Measured,
  MeasureInput,
} from '../../../machines/governance/bounds.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import {
  type KeyStanding,
  type KnownLimit,
  type Ledger,
  mostStandings,
  type OutcomePage,
  type OutcomeQuery,
  type Settlement,
  type StatementEvent,
} from '../../ports/ledger.ts';
import {
  effectiveStates,
  entryId,
  equalOf,
  firstOf,
  isEntry,
  isLost,
  isPastEnd,
  type LedgerRow,
  ledgerColumns,
  lostOutcomes,
  mostNewest,
  mostRecovered,
  openOutcomeOf,
  outcomeIn,
  outcomePage,
  outcomeRow,
  placeOfCursor,
  ranRow,
  requesterOf,
  reservedRows,
  settledBefore,
  settledRow,
  spareTime,
  standingOf,
  stateAfter,
  statesOf,
  stillSettled,
} from '../store/ledger-rows.ts';
import { CountedTimes } from '../store/limit-period.ts';
import { type LimitTotals, measureCall } from '../store/measure-call.ts';
import { PendingReservations } from '../store/pending-reservations.ts';
import {
  contradicted,
  contradictions,
  isLateSuccess,
  settledEvent,
} from '../store/settled-event.ts';
import type { TaskChange } from '../store/task-rows.ts';
import type { TaskWrite } from '../store/task-store.ts';
import { LimitCounters } from './limit-counters.ts';

/** Runs a write in the next commit, together with the events that it returns. */
export type CommitWith = (write: () => AuditEvent[]) => Promise<void>;

/**
 * The ledger of one daemon. What is pending is in memory, since the process that reserves also commits the start; a kill
 * gives it back. Everything here runs within one turn of the event loop, so that a check and its reservation are one step.
 */
export class SqliteLedger implements Ledger {
  /** Commits a statement with its event. */
  commitWith: CommitWith = () => Promise.reject(new Error('the store is not open'));
  readonly #sql;
  readonly #counters: LimitCounters;
  readonly #pending = new PendingReservations();
  readonly #times = new CountedTimes();
  /** The position up to which rows were compared with their tasks. */
  #lookedTo = 0;
  /** The position up to which rows were recovered. */
  #recoveredTo = 0;
  /** The latest time at which the store was restored from a backup. */
  readonly #restoredAt: number;

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
    this.#counters = new LimitCounters(database);
    this.#restoredAt = Number(this.#sql.restoredAt.get()?.['at'] ?? Number.NEGATIVE_INFINITY);
  }

  async measure(asked: MeasureInput, now: number): Promise<Measured> {
    const { call, bounds, reserves, renews = false } = asked;
    this.#pending.dropEnded(now);
    const own = this.#rowsOf(call.id);
    const totals = bounds.limits.map((limit) => this.#totals(limit, { now, own, callId: call.id }));
    const first = bounds.effect === null ? null : this.#firstOf(bounds.effect, call.id, now);
    const measured = measureCall(asked, { totals, first, now });
    if (reserves) {
      const stored = new Set(own.map(entryId));
      const rows = reservedRows(asked, measured.reserved ?? [], { at: now, state: 'running' });
      // A call that started before a restart counts already.
      this.#pending.put(
        call.id,
        rows.filter((row) => renews || !stored.has(entryId(row))),
        now,
      );
    }
    return measured;
  }

  async equal({ id, tool, argsSha256 }: Pick<ToolCall, 'id' | 'tool' | 'argsSha256'>) {
    const row = this.#sql.equal.get(argsSha256, tool, id);
    return row === undefined ? null : equalOf(rowOf(row));
  }

  forget(callId: string): void {
    this.#pending.drop(callId);
  }

  async standings(limits: readonly KnownLimit[], now: number): Promise<KeyStanding[]> {
    this.#pending.dropEnded(now);
    return limits.flatMap((limit) => {
      const { name, period } = limit;
      const { after } = this.#times.of(period, now);
      const stored = this.#sql.keys.all({ name, after, most: mostStandings });
      const keys = new Map([
        ...this.#pending.keysOf(name, after).map((key) => [key, 'null'] as const),
        ...stored.map(({ key, requester }) => [String(key), String(requester)] as const),
      ]);
      return [...keys].map(([key, requester]) => {
        const { used, reserved } = this.#counters.totals(name, key, after);
        const pending = this.#pending.sumOf(name, key, { after, but: '' });
        return standingOf(limit, { key, requester, used, reserved: plus(reserved, pending) });
      });
    });
  }

  async outcomes({ limit, cursor, isOpen }: OutcomeQuery): Promise<OutcomePage> {
    const { at, callId } = placeOfCursor(cursor);
    const found = statesOf(isOpen)
      .flatMap((state) => this.#sql.outcomes.all(state, at, callId, limit + 1).map(rowOf))
      .toSorted((one, other) => other.at - one.at || (one.call_id < other.call_id ? 1 : -1))
      .slice(0, limit + 1);
    const entries = found.flatMap((row) => this.#entriesOf(row.call_id));
    return outcomePage(found, limit, entries);
  }

  async outcome(callId: string): Promise<OpenOutcome | undefined> {
    return outcomeIn(this.#rowsOf(callId));
  }

  async settle(
    callId: string,
    settled: Settlement,
    event: StatementEvent,
  ): Promise<OpenOutcome | 'unknown' | 'settled'> {
    const known = settledBefore(this.#rowsOf(callId));
    if (known !== null) return known;
    let result: Awaited<ReturnType<Ledger['settle']>> = 'unknown';
    await this.commitWith(() => {
      const rows = this.#rowsOf(callId);
      const before = settledBefore(rows);
      if (before !== null) {
        result = before;
        return [];
      }
      const outcome = this.#settle(rows, settled);
      result = outcome;
      return [settledEvent(event, outcome, settled)];
    });
    return result;
  }

  async recover(now: number): Promise<boolean> {
    const from = this.#recoveredTo;
    const to = Number(this.#sql.reach.get(from)?.['last'] ?? from);
    this.#recoveredTo = to;
    if (this.#sql.lose.run({ from, to }).changes > 0) this.#counters.clear();
    this.#sql.noteLost.run({ from, to, now });
    return to > from;
  }

  async prune(now: number): Promise<number> {
    const ended = this.#sql.prune.all(now - spareTime).map(rowOf);
    for (const row of ended) if (row.kind === 'limit') this.#counters.remove(row);
    return ended.length > 0 ? ended.length : this.#pruneOrphans();
  }

  /** A release that does not know the ledger deletes tasks without it. Looks at the next 1,000 rows that leave with a task. */
  #pruneOrphans(): number {
    const rows = this.#sql.leaving.all(this.#lookedTo);
    this.#lookedTo = rows.length < 1_000 ? 0 : Number(rows.at(-1)?.['position']);
    const orphans = rows.filter((row) => row['is_orphan'] === 1).map(({ position }) => position);
    if (orphans.length > 0) this.#sql.deleteAll.run(JSON.stringify(orphans));
    return orphans.length;
  }

  /** Returns whether what is reserved for the calls that a change starts has not ended. */
  isReserved({ ledger = [] }: TaskChange): boolean {
    return ledger.every((change) => change.type !== 'started' || this.#holds(change));
  }

  /** Writes what a change of a task changes, in the open transaction. */
  write({ ledger = [], task }: TaskChange): void {
    for (const change of ledger) {
      if (change.type === 'started') this.#start(change, task);
      else this.#end(change, task);
    }
  }

  /** Returns the events of calls that succeeded although a person stated that they did not run, before they are written. */
  contradictions(write: TaskWrite): AuditEvent[] {
    return contradictions(write, (callId) => this.#rowsOf(callId));
  }

  /** Forgets what was reserved for the calls of a change that was not stored. */
  giveBack({ ledger = [] }: TaskChange): void {
    for (const { callId } of ledger) this.#pending.drop(callId);
  }

  /** Forgets sums with changes that are not committed. */
  rollBack(): void {
    this.#counters.clear();
  }

  /** Deletes what counts as long as its task is stored, but for outcomes of calls that still count. */
  deleteTasks(ids: readonly string[]): void {
    this.#sql.deleteTasks.run(JSON.stringify(ids));
  }

  #holds({ callId, entries }: Extract<LedgerChange, { type: 'started' }>): boolean {
    const pending = this.#pending.rowsOf(callId).map(entryId);
    const others = entries.map(entryId).filter((id) => !pending.includes(id));
    if (others.length === 0) return true;
    const stored = this.#rowsOf(callId).map(entryId);
    return others.every((id) => stored.includes(id));
  }

  #start(change: Extract<LedgerChange, { type: 'started' }>, task: TaskChange['task']): void {
    const { callId, approver, renews = false } = change;
    const before = renews ? this.#rowsOf(callId) : [];
    if (!renews) this.#insert(ranRow(change, task));
    for (const row of this.#pending.rowsOf(callId)) {
      const replaced = before.find((one) => entryId(one) === entryId(row));
      if (replaced !== undefined) this.#put(replaced, null);
      this.#insert({ ...row, approver: approver ?? row.approver });
    }
    this.#pending.drop(callId);
  }

  #end(
    change: Extract<LedgerChange, { type: 'ended' }>,
    { id, requester, changedAt }: TaskChange['task'],
  ): void {
    const { callId, tool, argsSha256, end, result } = change;
    this.#pending.drop(callId);
    const rows = this.#rowsOf(callId);
    const statement = isLateSuccess(change) ? contradicted(rows, changedAt) : null;
    if (statement !== null) this.#sql.contradict.run(JSON.stringify(statement), callId);
    const outcome = rows.find(({ kind }) => kind === 'outcome');
    const isSettled = outcome?.state === 'settled';
    for (const row of rows) {
      if (row.kind === 'ran' && end === 'not_run') this.#put(row, null);
      if (!isEntry(row)) continue;
      this.#put(row, stateAfter(row.state, end, isSettled));
      if (row.kind === 'effect' && result !== undefined) this.#sql.keep.run(result, row.position);
    }
    if (end === 'unknown' && outcome === undefined) {
      this.#insert(
        outcomeRow({
          ...{ call_id: callId, task_id: id, tool, args_sha256: argsSha256, at: changedAt },
          requester: requesterOf(requester),
        }),
      );
    }
    if (end !== 'unknown' && outcome !== undefined && !isSettled) this.#put(outcome, null);
  }

  #settle(rows: readonly StoredRow[], settled: Settlement): OpenOutcome {
    const entries = rows.filter(isEntry);
    const ran = rows.find(({ kind }) => kind === 'ran');
    if (ran !== undefined && !settled.ran) this.#put(ran, null);
    for (const row of entries) this.#put(row, settled.ran ? 'succeeded' : 'returned');
    const known = rows.find(({ kind }) => kind === 'outcome');
    const outcome = settledRow(rows, settled);
    if (known !== undefined) this.#put(known, null);
    this.#insert(outcome);
    return openOutcomeOf(outcome, entries);
  }

  #insert(row: LedgerRow): void {
    this.#sql.insert.run(...ledgerColumns.map((column): SQLInputValue => row[column]));
    if (row.kind === 'limit') this.#counters.add(row);
  }

  /** Gives an entry another state; `null` deletes it. */
  #put(row: StoredRow, state: LedgerRow['state'] | null): void {
    if (state === row.state) return;
    if (state === null) this.#sql.delete.run(row.position);
    else this.#sql.update.run(state, row.position);
    if (row.kind !== 'limit') return;
    this.#counters.remove(row);
    if (state !== null) this.#counters.add({ ...row, state });
  }

  #totals(
    { name, key, period }: CallLimit,
    { now, own, callId }: { now: number; own: readonly LedgerRow[]; callId: string },
  ): LimitTotals {
    const { after, until } = this.#times.of(period, now);
    let { used, reserved } = this.#counters.totals(name, key, after);
    for (const row of own) {
      const isCounted = row.kind === 'limit' && row.name === name && row.key === key;
      if (!isCounted || row.at <= after || row.state === 'returned') continue;
      if (row.state === 'running') reserved = minus(reserved, row.amount);
      else used = minus(used, row.amount);
    }
    reserved = plus(reserved, this.#pending.sumOf(name, key, { after, but: callId }));
    return { used, reserved, until, isIncomplete: this.#restoredAt > after };
  }

  #firstOf({ key, within }: CallEffect, callId: string, now: number): FirstEffect | null {
    const after = within === null ? Number.MIN_SAFE_INTEGER : now - within;
    const pending = this.#pending.newestOf(key, callId);
    if (pending !== undefined) return firstOf(pending);
    const row = this.#sql.first.get(key, after, callId);
    return row === undefined ? null : firstOf(rowOf(row));
  }

  #rowsOf(callId: string): StoredRow[] {
    return this.#sql.ofCall.all(callId).map(rowOf);
  }

  #entriesOf(callId: string): LedgerRow[] {
    return this.#rowsOf(callId).filter(isEntry);
  }
}

/**
 * Notes in the open transaction that calls which ran before a time, in epoch milliseconds, may be missing. A limit then counts
 * as exceeded until a period begins later.
 */
export function noteRestored(database: DatabaseSync, at: number): void {
  const insert = database.prepare(`INSERT INTO ledger
    (kind, name, key, call_id, task_id, tool, args_sha256, requester, amount, at, state)
    VALUES ('restored', '', '', '', '', '', '', 'null', '', ?, 'settled')`);
  database.exec(`DELETE FROM ledger WHERE kind = 'restored'`);
  insert.run(at);
}

/** A row with its place. */
type StoredRow = LedgerRow & { position: number };

/** Safe to cast: the columns contain only values that this class wrote. */
function rowOf(row: Record<string, SQLOutputValue>): StoredRow {
  return row as unknown as StoredRow;
}

function prepare(database: DatabaseSync) {
  const sql = (text: string) => database.prepare(text);
  return {
    insert: sql(`INSERT INTO ledger (${ledgerColumns.join(', ')})
      VALUES (${ledgerColumns.map(() => '?').join(', ')})`),
    update: sql('UPDATE ledger SET state = ? WHERE position = ?'),
    keep: sql('UPDATE ledger SET result = ? WHERE position = ?'),
    contradict: sql("UPDATE ledger SET settled = ? WHERE call_id = ? AND kind = 'outcome'"),
    delete: sql('DELETE FROM ledger WHERE position = ?'),
    ofCall: sql('SELECT * FROM ledger WHERE call_id = ? ORDER BY position'),
    first: sql(`SELECT * FROM ledger WHERE kind = 'effect' AND key = ?
      AND (at > ? OR state IN ('pending', 'running')) AND call_id <> ?
      AND state IN ${effectiveStates} ORDER BY at DESC, position DESC LIMIT 1`),
    equal: sql(`SELECT * FROM ledger WHERE kind = 'ran' AND key = ? AND name = ? AND call_id <> ?
      ORDER BY at DESC, position DESC LIMIT 1`),
    keys: sql(keysOfLimit),
    outcomes: sql(`SELECT * FROM ledger WHERE kind = 'outcome' AND state = ?
      AND (at, call_id) < (?, ?) ORDER BY at DESC, call_id DESC LIMIT ?`),
    restoredAt: sql(`SELECT max(at) AS at FROM ledger WHERE kind = 'restored'`),
    prune: sql(`DELETE FROM ledger WHERE position IN (
      SELECT position FROM ledger WHERE ${isPastEnd('?')} LIMIT 1000) RETURNING *`),
    reach: sql(`SELECT max(position) AS last FROM (
      SELECT position FROM ledger WHERE position > ? ORDER BY position LIMIT ${mostRecovered})`),
    lose: sql(`UPDATE ledger SET state = 'unknown'
      WHERE position > :from AND position <= :to AND ${isLost}`),
    noteLost: sql(
      lostOutcomes(
        `ledger AS l WHERE position > :from AND position <= :to AND kind IN ('limit', 'effect')
          AND state = 'unknown' AND NOT EXISTS (
            SELECT 1 FROM ledger AS o WHERE o.call_id = l.call_id AND o.kind = 'outcome')`,
        ':now',
      ),
    ),
    deleteAll: sql('DELETE FROM ledger WHERE position IN (SELECT value FROM json_each(?))'),
    leaving: sql(`SELECT position,
      NOT EXISTS (SELECT 1 FROM tasks WHERE id = task_id) AND NOT ${stillSettled} AS is_orphan
      FROM ledger WHERE position > ? AND until IS NULL AND kind <> 'restored'
      ORDER BY position LIMIT 1000`),
    deleteTasks: sql(`DELETE FROM ledger
      WHERE until IS NULL AND task_id IN (SELECT value FROM json_each(?)) AND NOT ${stillSettled}`),
  };
}

/** The keys of the newest calls of a limit, each with the requester of its newest call. */
const keysOfLimit = `WITH calls AS (SELECT key, requester, at FROM ledger
    WHERE kind = 'limit' AND name = :name AND at > :after ORDER BY at DESC LIMIT ${mostNewest})
  SELECT key, requester, max(at) AS newest FROM calls
  GROUP BY key ORDER BY newest DESC, key LIMIT :most`;
