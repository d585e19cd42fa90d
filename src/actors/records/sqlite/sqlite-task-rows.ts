import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { OpenHoldState } from '../../../machines/domain/hold.ts';
import { isFinal, type Owner, type Task, type TaskState } from '../../../machines/domain/task.ts';
import { isHoldDue } from '../store/hold-write.ts';
import { countOpenHolds } from '../store/open-holds.ts';
import { columnsOfOwner } from '../store/task-owners.ts';
import {
  isKnown as known,
  taskColumns as names,
  rowOf,
  storedColumns,
  storedTaskOf,
  type TaskColumns,
  taskOf,
  wholeColumns,
} from '../store/task-row.ts';
import type {
  StoredTask,
  StrangeTasks,
  TaskChange,
  TaskRows,
  WaitFigures,
} from '../store/task-rows.ts';
import { ConflictError, UnreservedError } from '../store/task-store.ts';
import { waitFigures, waitsAt } from '../store/waits-at.ts';
import { inTransaction } from './in-transaction.ts';
import { SqliteLedger } from './sqlite-ledger.ts';
import { SqliteMessageRows } from './sqlite-message-rows.ts';
import { SqliteSessionRows } from './sqlite-session-rows.ts';
import { SqliteStateRows } from './sqlite-state-rows.ts';
import { SqliteTaskListing } from './sqlite-task-listing.ts';
import { StateCounts } from './state-counts.ts';
import { TaskParts, valuesSql } from './task-parts.ts';

const final = `('completed', 'failed', 'canceled')`;

/** Statements on the tasks of an agent. Reads see only committed rows. */
export class SqliteTaskRows implements TaskRows {
  readonly #database: DatabaseSync;
  /** Paged lists of the tasks. */
  readonly listing: SqliteTaskListing;
  /** The task of each message. */
  readonly messages: SqliteMessageRows;
  /** Sessions of the tasks. */
  readonly sessions: SqliteSessionRows;
  /** Chart states that the tasks have entered. */
  readonly states: SqliteStateRows;
  /** What calls count for; a change of a task changes it in the same transaction. */
  readonly ledger: SqliteLedger;
  readonly #sql;
  readonly #counts: StateCounts;
  readonly #parts: TaskParts;
  /** Statements by the columns that they set. */
  readonly #updates = new Map<string, StatementSync>();
  /** The small columns of unfinished tasks as this process wrote them last, the newest last. */
  readonly #written = new Map<string, Before>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.listing = new SqliteTaskListing(database);
    this.messages = new SqliteMessageRows(database);
    this.sessions = new SqliteSessionRows(database);
    this.states = new SqliteStateRows(database);
    this.ledger = new SqliteLedger(database);
    this.#sql = prepare(database);
    this.#counts = new StateCounts(database);
    this.#parts = new TaskParts(database);
  }

  /**
   * Writes a change if the row has the expected revision, no message belongs to another task and what was
   * reserved for its calls had not ended. Writes nothing otherwise. Returns the error of a refused change.
   */
  write(change: TaskChange): Error | null {
    const { sent = [], task } = change;
    const taken = sent.filter((message) => this.messages.take(message, task.id));
    const isReserved = this.ledger.isReserved(change);
    if (isReserved && taken.length === sent.length && this.#put(change)) {
      this.ledger.write(change);
      return null;
    }
    for (const message of taken) this.messages.drop(message, task.id);
    this.ledger.giveBack(change);
    return isReserved
      ? new ConflictError(`task ${task.id} was changed by another process`)
      : new UnreservedError(task.id);
  }

  /** Notes that the written changes are committed. */
  commit(): void {
    this.#counts.commit();
  }

  /** Forgets the written changes, which are not committed, and gives back what was reserved for their calls. */
  rollBack(): void {
    this.#counts.rollBack();
    this.ledger.rollBack();
    this.#written.clear();
  }

  #put(change: TaskChange): boolean {
    const { task, expected, entered = [], outcomes = [] } = change;
    const { columns, shared } = rowOf(change);
    const before = expected === 0 ? null : this.#before(task.id, expected);
    if (before === undefined) return false;
    const position = before === null ? this.#insert(columns) : this.#update(columns, before);
    if (position === null) return false;
    this.#parts.put(task, { position, shared }, before, columns);
    this.#parts.addOutcomes(outcomes);
    const states = this.states.add(task.id, before?.states ?? 0, entered);
    this.#counts.move(before?.state ?? null, task.state);
    this.#remember(columns, position, states);
    return true;
  }

  /** Returns what the row has before a change; `undefined` if it has another revision. */
  #before(id: string, expected: number): Before | undefined {
    const written = this.#written.get(id);
    if (written?.revision === expected) return written;
    return this.#sql.before.get(id, expected) as Before | undefined;
  }

  #remember(columns: TaskColumns, position: number, states: number): void {
    const { task: _, snapshot: __, contents: ___, ...kept } = columns;
    this.#written.delete(kept.id);
    if (isFinal(kept.state)) return;
    this.#written.set(kept.id, { ...kept, position, states });
    const [oldest = ''] = this.#written.keys();
    if (this.#written.size > mostWritten) this.#written.delete(oldest);
  }

  #insert(columns: TaskColumns): number | null {
    const values = names.map((name) => columns[name]);
    const { changes, lastInsertRowid } = this.#sql.insert.run(...values);
    return Number(changes) === 1 ? Number(lastInsertRowid) : null;
  }

  /**
   * Sets the columns that differ, because each index of a column that is set is written again. Returns `null` if another
   * process changed the row.
   */
  #update(columns: TaskColumns, before: Before): number | null {
    const set = names.filter((name) => before[name] !== columns[name]);
    const key = set.join();
    const update =
      this.#updates.get(key) ??
      this.#database.prepare(
        `UPDATE tasks SET ${set.map((name) => `${name} = ?`).join(', ')}
          WHERE position = ? AND id = ? AND revision = ?`,
      );
    this.#updates.set(key, update);
    const { position, id, revision } = before;
    const { changes } = update.run(...set.map((name) => columns[name]), position, id, revision);
    return Number(changes) === 1 ? position : null;
  }

  async read(id: string): Promise<StoredTask | undefined> {
    return this.readNow(id);
  }

  /** Returns a task with the data needed to resume it. */
  readNow(id: string): StoredTask | undefined {
    const row = this.#sql.read.get(id);
    if (row === undefined) return undefined;
    return storedTaskOf(row);
  }

  /** Returns the public task. */
  async find(id: string): Promise<Task | undefined> {
    const row = this.#sql.find.get(id);
    return row === undefined ? undefined : taskOf(row);
  }

  /** Returns the task that waits on a deferral. */
  async findByDeferral(deferralId: string): Promise<Task | undefined> {
    const row = this.#sql.findByDeferral.get(deferralId);
    return row === undefined ? undefined : taskOf(row);
  }

  /** Returns the ids of running tasks, oldest first, which a restart must resume if possible. */
  async working(): Promise<string[]> {
    return this.#sql.working.all().map((row) => String(row['id']));
  }

  /** Returns the ids of unfinished tasks, also of those that only another release can resume. */
  unfinishedNow(): string[] {
    return this.#sql.unfinished.all().map((row) => String(row['id']));
  }

  /** Returns the ids of decided holds that their program has not received, or whose outcome is not known. */
  dueHoldsNow(): string[] {
    return this.#sql.dueHolds.all().map((row) => String(row['id']));
  }

  /** Returns the ids of running tasks, also of those that only another release can resume. */
  runningNow(): string[] {
    return this.#sql.running.all().map((row) => String(row['id']));
  }

  /** Returns the ids of parked tasks that can be resumed, oldest first. */
  async parked(but: readonly string[] = []): Promise<string[]> {
    return this.#sql.parked.all(JSON.stringify(but)).map((row) => String(row['id']));
  }

  async rulings(): Promise<string[]> {
    return this.#sql.rulings.all().map((row) => String(row['ruled_as']));
  }

  /** Counts the tasks of an owner that wait for a decision. */
  async countWaiting(owner: Owner | null): Promise<number> {
    return Number(this.#sql.countWaiting.get(...columnsOfOwner(owner))?.['tasks']);
  }

  /** Returns the ids of up to `limit` tasks of an owner that wait for a decision. */
  async waitingOf(owner: Owner | null, limit: number): Promise<string[]> {
    const rows = this.#sql.waitingOf.all(...columnsOfOwner(owner), limit);
    return rows.map((row) => String(row['id']));
  }

  /** Returns the ids of parked tasks whose deadline has passed, most overdue first. */
  async overdue(now: number): Promise<string[]> {
    return this.#sql.overdue.all(now).map((row) => String(row['id']));
  }

  /** Returns the first deadline after a time, in epoch milliseconds. */
  async nextDeadline(after: number): Promise<number | null> {
    const row = this.#sql.nextDeadline.get(after);
    return row === undefined ? null : Number(row['at']);
  }

  /** Counts unfinished tasks saved by other versions of their chart, by version. */
  async strangers(): Promise<StrangeTasks[]> {
    return ofOtherReleases(this.#database);
  }

  async waits(now: number): Promise<WaitFigures> {
    const { oldest, expires, overdue } = this.#sql.waits.get(now) ?? {};
    return waitFigures(oldest, expires, overdue);
  }

  async count(state: TaskState): Promise<number> {
    return this.#counts.now()[state] ?? 0;
  }

  /** Counts tasks by state; states without tasks are omitted. */
  async countByState(): Promise<Partial<Record<TaskState, number>>> {
    return this.#counts.now();
  }

  async countOpenHolds(): Promise<Partial<Record<OpenHoldState, number>>> {
    const rows = this.#sql.countOpenHolds.all();
    return Object.fromEntries(rows.map(({ state, holds }) => [String(state), Number(holds)]));
  }

  /** Deletes up to `limit` final tasks that ended before a time; returns how many. */
  deleteEnded(before: number, limit: number): number {
    let deleted = 0;
    inTransaction(this.#database, () => {
      const rows = this.#sql.deleteEnded.all(before, limit);
      const gone = rows.map(({ position, id }) => ({ position: Number(position), id: String(id) }));
      if (gone.length > 0) {
        this.#parts.delete(gone);
        this.ledger.deleteTasks(gone.map(({ id }) => id));
      }
      for (const { state } of rows) this.#counts.move(state as TaskState, null);
      deleted = gone.length;
    });
    this.#counts.commit();
    return deleted;
  }
}

/** The small columns of a row before a change, and the number of states that its task has entered. */
type Before = Partial<TaskColumns> &
  Pick<TaskColumns, SmallColumn> & { position: number; states: number };

type SmallColumn = Exclude<keyof TaskColumns, 'task' | 'snapshot' | 'contents'>;

const small = names.filter((name) => !['task', 'snapshot', 'contents'].includes(name));

/** Maximum of rows that are remembered; others are read before their change. */
const mostWritten = 1_000;

/** Counts a store's unfinished tasks that this release cannot resume, by chart version. */
export function ofOtherReleases(database: DatabaseSync): StrangeTasks[] {
  const rows = database.prepare(`SELECT machine_version, count(*) AS tasks FROM tasks
    WHERE state IN ('submitted', 'working', 'deferred') AND NOT ${known}
    GROUP BY machine_version`);
  return rows.all().map((row) => ({
    machineVersion: Number(row['machine_version']),
    tasks: Number(row['tasks']),
  }));
}

function prepare(database: DatabaseSync) {
  const sql = (text: string) => database.prepare(text);
  return {
    insert: sql(`INSERT INTO tasks (${names.join(', ')})
      VALUES (${names.map(() => '?').join(', ')}) ON CONFLICT (id) DO NOTHING`),
    before: sql(`SELECT position, ${small.join(', ')},
      coalesce((SELECT first + entered - 1 FROM task_states WHERE task_id = tasks.id
        ORDER BY first DESC LIMIT 1), 0) AS states FROM tasks WHERE id = ? AND revision = ?`),
    read: sql(`SELECT ${storedColumns(valuesSql)}
      FROM tasks WHERE id = ?`),
    find: sql(`SELECT ${wholeColumns(valuesSql)} FROM tasks WHERE id = ?`),
    findByDeferral: sql(`SELECT ${wholeColumns(valuesSql)} FROM tasks WHERE deferral_id = ?`),
    unfinished: sql(`SELECT id FROM tasks WHERE state IN ('submitted', 'working', 'deferred')
      ORDER BY position`),
    running: sql(`SELECT id FROM tasks WHERE state IN ('submitted', 'working') ORDER BY position`),
    working: sql(`SELECT id FROM tasks WHERE state IN ('submitted', 'working')
      AND ${known} ORDER BY position`),
    parked: sql(`SELECT id FROM tasks WHERE state = 'deferred' AND ${known}
      AND coalesce(ruled_as NOT IN (SELECT value FROM json_each(?)), TRUE) ORDER BY position`),
    rulings: sql(`SELECT DISTINCT ruled_as FROM tasks
      WHERE state = 'deferred' AND ruled_as IS NOT NULL`),
    countWaiting: sql(`SELECT count(*) AS tasks FROM tasks INDEXED BY tasks_waiting_by_owner
      WHERE state = 'deferred' AND owner_org = ? AND owner = ?`),
    waitingOf: sql(`SELECT id FROM tasks INDEXED BY tasks_waiting_by_owner
      WHERE state = 'deferred' AND owner_org = ? AND owner = ? LIMIT ?`),
    overdue: sql(`SELECT id FROM tasks WHERE deadline_at <= ? AND ${known} ORDER BY deadline_at`),
    nextDeadline: sql(`SELECT deadline_at AS at FROM tasks WHERE deadline_at > ? AND ${known}
      ORDER BY deadline_at LIMIT 1`),
    waits: sql(waitsAt('?')),
    countOpenHolds: sql(countOpenHolds),
    dueHolds: sql(`SELECT id FROM tasks WHERE ${isHoldDue}`),
    deleteEnded: sql(`DELETE FROM tasks WHERE position IN (
      SELECT position FROM tasks WHERE state IN ${final} AND changed_at < ? LIMIT ?)
      RETURNING position, id, state`),
  };
}
