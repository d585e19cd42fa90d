import type { DatabaseSync } from 'node:sqlite';
import type { EnteredState } from '../../../machines/task/entered-state.ts';
import { oldestTaskMachineVersion } from '../../../machines/task/migrate-snapshot.ts';
import type { Task, TaskState } from '../../../machines/task/task.ts';
import { taskMachineVersion } from '../../../machines/task/task-machine.ts';
import { MessageRows, type SentMessage } from './message-rows.ts';
import { SessionRows } from './session-rows.ts';
import { StateRows } from './state-rows.ts';
import { TaskListing } from './task-listing.ts';
import { approversOf, ownerColumns } from './task-owners.ts';
import {
  columnsOf,
  openState,
  parseTask,
  type TaskRow,
  taskOf,
  unreadableTask,
  wholeColumns,
} from './task-row.ts';

/** A task as it stands on disk. */
export interface StoredTask {
  task: Task;
  /** The persisted snapshot of its chart; `null` once the task is final. */
  snapshot: unknown;
  machineVersion: number;
  /** The last `seq` of its audit events. */
  auditSeq: number;
  /** The tool call whose start is on disk and whose end is not. */
  startedCall: string | null;
  /**
   * The state that a task stands in whose row cannot be read, `null` when it had ended; absent for any other.
   * `task` is then what can be said of it.
   */
  unreadable?: TaskState | null;
}

/** The next version of a task; `expected` is the revision it replaces, 0 for a new one. */
export interface TaskChange extends Omit<StoredTask, 'snapshot' | 'unreadable'> {
  expected: number;
  /** JSON, or `null` for a final task. */
  snapshot: string | null;
  /** The messages that led here and are to be known again; absent for none. */
  sent?: readonly SentMessage[];
  /** The states of the chart that led here; absent for none. */
  entered?: readonly EnteredState[];
}

const final = `('completed', 'failed', 'canceled')`;

/** The statements over the tasks of an agent. Every read sees committed rows alone. */
export class TaskRows {
  readonly #database: DatabaseSync;
  /** The tasks as pages. */
  readonly listing: TaskListing;
  /** Which message led to which of them. */
  readonly messages: MessageRows;
  /** Their sessions. */
  readonly sessions: SessionRows;
  /** The states of their chart that they have entered. */
  readonly states: StateRows;
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.listing = new TaskListing(database);
    this.messages = new MessageRows(database);
    this.sessions = new SessionRows(database);
    this.states = new StateRows(database);
    this.#sql = prepare(database);
  }

  /**
   * Writes a change and tells whether the row was still at the expected revision, and its messages had led
   * nowhere else. Nothing of it stays otherwise.
   */
  write(change: TaskChange): boolean {
    const { sent = [], entered = [], task } = change;
    const taken = sent.filter((message) => this.messages.take(message, task.id));
    if (taken.length === sent.length && this.#put(change)) {
      if (entered.length > 0) this.states.add(task.id, entered);
      return true;
    }
    for (const message of taken) this.messages.drop(message, task.id);
    return false;
  }

  #put(change: TaskChange): boolean {
    const { task } = change;
    const { brief, contents } = columnsOf(task);
    const values = [
      task.state,
      task.revision,
      task.changedAt,
      task.wakeAt,
      task.deferral?.id ?? null,
      change.machineVersion,
      change.auditSeq,
      change.startedCall,
      brief,
      change.snapshot,
      task.contextId,
      contents,
      approversOf(task),
      task.id,
    ];
    if (change.expected === 0)
      return isDone(this.#sql.insert.run(...values, ...ownerColumns(task)));
    const isWritten = isDone(this.#sql.update.run(...values, change.expected));
    // Only another run may have changed whose it is.
    if (isWritten && task.owner !== undefined) this.#sql.own.run(...ownerColumns(task), task.id);
    return isWritten;
  }

  /** Returns a task with what is needed to go on with it. */
  read(id: string): StoredTask | undefined {
    const row = this.#sql.read.get(id);
    if (row === undefined) return undefined;
    const kept = {
      machineVersion: Number(row['machine_version']),
      auditSeq: Number(row['audit_seq']),
      startedCall: row['started_call'] === null ? null : String(row['started_call']),
    };
    try {
      return { task: parseTask(row), snapshot: snapshotOf(row), ...kept };
    } catch {
      return { task: unreadableTask(row), snapshot: null, ...kept, unreadable: openState(row) };
    }
  }

  /** Returns the public task. */
  find(id: string): Task | undefined {
    const row = this.#sql.find.get(id);
    return row === undefined ? undefined : taskOf(row);
  }

  /** Returns the task that waits on a deferral. */
  findByDeferral(deferralId: string): Task | undefined {
    const row = this.#sql.findByDeferral.get(deferralId);
    return row === undefined ? undefined : taskOf(row);
  }

  /** Returns the ids of tasks at work, oldest first: the ones a restart has to go on with, as far as it can. */
  working(): string[] {
    return this.#sql.working.all().map((row) => String(row['id']));
  }

  /** Returns the ids of parked tasks that can be gone on with, oldest first. */
  parked(): string[] {
    return this.#sql.parked.all().map((row) => String(row['id']));
  }

  /** Returns the ids of parked tasks whose deadline has passed, the most overdue first. */
  overdue(now: number): string[] {
    return this.#sql.overdue.all(now).map((row) => String(row['id']));
  }

  /** Returns the first deadline after a time, in epoch milliseconds. */
  nextDeadline(after: number): number | null {
    const row = this.#sql.nextDeadline.get(after);
    return row === undefined ? null : Number(row['at']);
  }

  /** Counts the tasks that have not ended and that another version of their chart saved, by that version. */
  strangers(): { machineVersion: number; tasks: number }[] {
    return ofOtherReleases(this.#database);
  }

  /** Counts tasks in a state. */
  count(state: TaskState): number {
    return Number(this.#sql.count.get(state)?.['tasks']);
  }

  /** Counts the tasks of every state that has any. */
  countByState(): Partial<Record<TaskState, number>> {
    const rows = this.#sql.countByState.all();
    return Object.fromEntries(rows.map((row) => [String(row['state']), Number(row['tasks'])]));
  }

  /** Deletes up to `limit` final tasks that ended before a time and tells how many went. */
  deleteEnded(before: number, limit: number): number {
    return Number(this.#sql.deleteEnded.run(before, limit).changes);
  }
}

/** The column holds what `write` put there. Throws SyntaxError when it does not any more. */
function snapshotOf(row: TaskRow): unknown {
  const snapshot = row['snapshot'];
  return snapshot === null ? null : JSON.parse(String(snapshot));
}

/** The rows whose snapshots can be gone on with. */
const known = `machine_version BETWEEN ${oldestTaskMachineVersion} AND ${taskMachineVersion}`;

function isDone({ changes }: { changes: number | bigint }): boolean {
  return Number(changes) === 1;
}

/** Counts the tasks of a store that have not ended and that this release cannot go on with, by the version that saved them. */
export function ofOtherReleases(
  database: DatabaseSync,
): { machineVersion: number; tasks: number }[] {
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
    insert: sql(`INSERT INTO tasks (state, revision, changed_at, deadline_at, deferral_id,
      machine_version, audit_seq, started_call, task, snapshot, context_id, contents,
      approvers, id, owner_org, owner)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`),
    update: sql(`UPDATE tasks SET state = ?, revision = ?, changed_at = ?, deadline_at = ?,
      deferral_id = ?, machine_version = ?, audit_seq = ?, started_call = ?, task = ?, snapshot = ?,
      context_id = ?, contents = ?, approvers = ? WHERE id = ? AND revision = ?`),
    own: sql(
      'UPDATE tasks SET owner_org = ?1, owner = ?2 WHERE id = ?3 AND (owner_org, owner) <> (?1, ?2)',
    ),
    read: sql(`SELECT ${wholeColumns}, snapshot, machine_version, audit_seq, started_call
      FROM tasks WHERE id = ?`),
    find: sql(`SELECT ${wholeColumns} FROM tasks WHERE id = ?`),
    findByDeferral: sql(`SELECT ${wholeColumns} FROM tasks WHERE deferral_id = ?`),
    working: sql(`SELECT id FROM tasks WHERE state IN ('submitted', 'working')
      AND ${known} ORDER BY position`),
    parked: sql(`SELECT id FROM tasks WHERE state = 'deferred' AND ${known} ORDER BY position`),
    overdue: sql(`SELECT id FROM tasks WHERE deadline_at <= ? AND ${known} ORDER BY deadline_at`),
    nextDeadline: sql(`SELECT deadline_at AS at FROM tasks WHERE deadline_at > ? AND ${known}
      ORDER BY deadline_at LIMIT 1`),
    count: sql('SELECT count(*) AS tasks FROM tasks WHERE state = ?'),
    countByState: sql('SELECT state, count(*) AS tasks FROM tasks GROUP BY state'),
    deleteEnded: sql(`DELETE FROM tasks WHERE position IN (
      SELECT position FROM tasks WHERE state IN ${final} AND changed_at < ? LIMIT ?)`),
  };
}
