import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Task, TaskState } from '../../machines/task/task.ts';

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
}

/** The next version of a task; `expected` is the revision it replaces, 0 for a new one. */
export interface TaskChange extends Omit<StoredTask, 'snapshot'> {
  expected: number;
  /** JSON, or `null` for a final task. */
  snapshot: string | null;
}

/** A page of tasks, newest first; `cursor` asks for the next one. */
export interface TaskPage {
  tasks: Task[];
  cursor: string | null;
}

/** Which tasks are meant; all of them when nothing is said. */
export interface TaskFilter {
  state?: TaskState;
  contextId?: string;
  /** Epoch milliseconds. */
  changedAfter?: number;
}

/** What to list; `cursor` comes from the page before. */
export interface TaskQuery extends TaskFilter {
  limit: number;
  cursor?: string;
}

const final = `('completed', 'failed', 'canceled')`;

/** The statements over the tasks of an agent. Every read sees committed rows alone. */
export class TaskRows {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
  }

  /** Writes a change and tells whether the row was still at the expected revision. */
  write(change: TaskChange): boolean {
    const { task } = change;
    const values = [
      task.state,
      task.revision,
      task.changedAt,
      task.wakeAt,
      task.deferral?.id ?? null,
      change.machineVersion,
      change.auditSeq,
      change.startedCall,
      JSON.stringify(task),
      change.snapshot,
      task.id,
    ];
    const done =
      change.expected === 0
        ? this.#sql.insert.run(...values)
        : this.#sql.update.run(...values, change.expected);
    return Number(done.changes) === 1;
  }

  /** Returns a task with what is needed to go on with it. */
  read(id: string): StoredTask | undefined {
    const row = this.#sql.read.get(id);
    if (row === undefined) return undefined;
    const snapshot = row['snapshot'];
    return {
      task: taskOf(row),
      snapshot: snapshot === null ? null : (JSON.parse(String(snapshot)) as unknown),
      machineVersion: Number(row['machine_version']),
      auditSeq: Number(row['audit_seq']),
      startedCall: row['started_call'] === null ? null : String(row['started_call']),
    };
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

  /** Lists tasks, newest first. */
  list({ limit, cursor, ...filter }: TaskQuery): TaskPage {
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor);
    const { state, contextId, changedAfter } = filter;
    const isPlain = contextId === undefined && changedAfter === undefined;
    const rows = !isPlain
      ? this.#sql.listBy.all(...boundTo(filter), before, limit + 1)
      : state === undefined
        ? this.#sql.list.all(before, limit + 1)
        : this.#sql.listByState.all(state, before, limit + 1);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      tasks: page.map(taskOf),
      cursor: rows.length > limit && last !== undefined ? String(last['position']) : null,
    };
  }

  /** Returns the ids of tasks at work, oldest first: the ones a restart has to go on with. */
  working(): string[] {
    return this.#sql.working.all().map((row) => String(row['id']));
  }

  /** Returns the ids of parked tasks, oldest first. */
  parked(): string[] {
    return this.#sql.parked.all().map((row) => String(row['id']));
  }

  /** Returns the ids of parked tasks whose deadline has passed, the most overdue first. */
  overdue(now: number): string[] {
    return this.#sql.overdue.all(now).map((row) => String(row['id']));
  }

  /** Returns the first deadline after a time, in epoch milliseconds. */
  nextDeadline(after: number): number | null {
    const at = this.#sql.nextDeadline.get(after)?.['at'];
    return at === null || at === undefined ? null : Number(at);
  }

  /** Counts the tasks that a filter lets through. */
  total(filter: TaskFilter): number {
    return Number(this.#sql.countBy.get(...boundTo(filter))?.['tasks']);
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

/** The column holds what `write` put there. */
function taskOf(row: Record<string, SQLOutputValue>): Task {
  return JSON.parse(String(row['task'])) as Task;
}

/** A filter's values in the order of `filtered`; what is not asked for lets everything through. */
function boundTo({ state, contextId, changedAfter }: TaskFilter): (string | number | null)[] {
  return [state ?? null, contextId ?? null, changedAfter ?? 0];
}

const filtered = `(?1 IS NULL OR state = ?1) AND (?2 IS NULL OR json_extract(task, '$.contextId') = ?2)
      AND changed_at >= ?3`;

function prepare(database: DatabaseSync) {
  const sql = (text: string) => database.prepare(text);
  return {
    insert: sql(`INSERT INTO tasks (state, revision, changed_at, deadline_at, deferral_id,
      machine_version, audit_seq, started_call, task, snapshot, id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`),
    update: sql(`UPDATE tasks SET state = ?, revision = ?, changed_at = ?, deadline_at = ?,
      deferral_id = ?, machine_version = ?, audit_seq = ?, started_call = ?, task = ?, snapshot = ? WHERE id = ? AND revision = ?`),
    read: sql(`SELECT task, snapshot, machine_version, audit_seq, started_call
      FROM tasks WHERE id = ?`),
    find: sql('SELECT task FROM tasks WHERE id = ?'),
    findByDeferral: sql('SELECT task FROM tasks WHERE deferral_id = ?'),
    list: sql('SELECT position, task FROM tasks WHERE position < ? ORDER BY position DESC LIMIT ?'),
    listByState: sql(`SELECT position, task FROM tasks WHERE state = ? AND position < ?
      ORDER BY position DESC LIMIT ?`),
    listBy: sql(`SELECT position, task FROM tasks WHERE ${filtered} AND position < ?4
      ORDER BY position DESC LIMIT ?5`),
    countBy: sql(`SELECT count(*) AS tasks FROM tasks WHERE ${filtered}`),
    working: sql(`SELECT id FROM tasks WHERE state IN ('submitted', 'working') ORDER BY position`),
    parked: sql(`SELECT id FROM tasks WHERE state = 'deferred' ORDER BY position`),
    overdue: sql('SELECT id FROM tasks WHERE deadline_at <= ? ORDER BY deadline_at'),
    nextDeadline: sql('SELECT min(deadline_at) AS at FROM tasks WHERE deadline_at > ?'),
    count: sql('SELECT count(*) AS tasks FROM tasks WHERE state = ?'),
    countByState: sql('SELECT state, count(*) AS tasks FROM tasks GROUP BY state'),
    deleteEnded: sql(`DELETE FROM tasks WHERE position IN (
      SELECT position FROM tasks WHERE state IN ${final} AND changed_at < ? LIMIT ?)`),
  };
}
