import type { SQLOutputValue } from 'node:sqlite';
import { isFinal, type Task, type TaskState } from '../../../machines/domain/task.ts';
import { ruledAs } from '../../../machines/governance/ruled-as.ts';
import { unreadable } from '../../../machines/task/failure-of.ts';
import {
  oldestTaskMachineVersion,
  taskMachineVersion,
} from '../../../machines/task/snapshot-steps.ts';
import type { TaskContext } from '../../../machines/task/task-input.ts';
import { titleOf } from '../../../machines/task/task-title.ts';
import { openHoldOf } from './open-holds.ts';
import { columnReader, isWorthSharing, type SharedColumn, SharedValues } from './shared-values.ts';
import { approversOf, ownerColumns, ownerOfColumns } from './task-owners.ts';
import type { StoredTask, TaskChange } from './task-rows.ts';

/** A row of the task table, or some of its columns. */
export type TaskRow = Record<string, SQLOutputValue>;

const bare = 'position, id, context_id, state, revision, changed_at, owner_org, owner, task';

/** SQL of a kind of database for shared values. */
export interface ValuesSql {
  /** An object of digests and values. */
  asJson: string;
  /** The function that returns the place of its second string in the first, from 1; 0 for none. */
  place: string;
}

/** Returns SQL for what a row refers to in `columns`: `selected` of the values of a task. */
export function valuesIn(
  columns: readonly string[],
  { selected, task, place }: { selected: string; task: string; place: string },
): string {
  const isIn = columns
    .map((column) => `${place}(coalesce(${column}, ''), digest) > 0`)
    .join(' OR ');
  return `(SELECT ${selected} FROM task_values WHERE task_values.task_id = ${task} AND (${isIn}))`;
}

function shared(columns: readonly string[], { asJson, place }: ValuesSql): string {
  const values = valuesIn(columns, { selected: asJson, task: 'tasks.id', place });
  return `CASE WHEN has_values = 1 THEN coalesce(${values}, '{}') END AS shared`;
}

/** Returns the columns of a task without message contents. */
export function briefColumns(sql: ValuesSql): string {
  return `${bare}, ${shared(['task'], sql)}`;
}

/** Returns the columns of a complete task. */
export function wholeColumns(sql: ValuesSql): string {
  return `${bare}, contents, ${shared(['task', 'contents'], sql)}`;
}

/** Returns the columns of a task with its snapshot. */
export function storedColumns(sql: ValuesSql): string {
  return `${bare}, contents, snapshot, machine_version, audit_seq, started_call,
    ${shared(['task', 'contents', 'snapshot'], sql)}`;
}

/** Returns SQL for the bytes of the columns of a task as they are read. */
export function sizeOfColumns(withContents: boolean, { place }: ValuesSql): string {
  const columns = withContents ? ['task', 'contents'] : ['task'];
  // A digest has 64 characters, and occurs as often as its value.
  const places = columns.map(
    (column) =>
      `length(coalesce(${column}, '')) - length(replace(coalesce(${column}, ''), digest, ''))`,
  );
  const selected = `sum(octet_length(value) * ((${places.join(' + ')}) / 64))`;
  const values = valuesIn(columns, { selected, task: 'tasks.id', place });
  const own = columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ');
  return `${own} + CASE WHEN has_values = 1 THEN coalesce(${values}, 0) ELSE 0 END`;
}

/** SQL condition for rows whose snapshots this release can resume. */
export const isKnown = `machine_version BETWEEN ${oldestTaskMachineVersion} AND ${taskMachineVersion}`;

/** The columns of a task's row but its position. */
export type TaskColumns = ReturnType<typeof newRow>['columns'];

const rows = new WeakMap<TaskChange, ReturnType<typeof newRow>>();

/**
 * Returns the columns of a changed task, and the writer of its values if they are shared. A change is written in several
 * steps, and again after a failed commit, with one row. Throws RangeError for a task that is nested too deeply.
 */
export function rowOf(change: TaskChange): ReturnType<typeof newRow> {
  const row = rows.get(change) ?? newRow(change);
  rows.set(change, row);
  return row;
}

function newRow(change: TaskChange) {
  const { task } = change;
  const { history, answer, ...rest } = task;
  // Lists show the title of a wait.
  const brief = task.deferral === null ? rest : { ...rest, title: titleOf(task) };
  const { shared, json } = jsonOf([brief, change.snapshot, { history, answer }]);
  const [ownerOrg, owner] = ownerColumns(task);
  const columns = {
    id: task.id,
    state: task.state,
    revision: task.revision,
    changed_at: task.changedAt,
    deadline_at: task.wakeAt,
    deferral_id: task.deferral?.id ?? null,
    machine_version: change.machineVersion,
    audit_seq: change.auditSeq,
    started_call: change.startedCall,
    task: json[0],
    snapshot: change.snapshot === null ? null : json[1],
    context_id: task.contextId,
    contents: json[2],
    approvers: approversOf(task),
    owner_org: ownerOrg,
    owner,
    expires_at: task.deferral?.expiresAt ?? null,
    open_hold: openHoldOf(task),
    has_values: shared === null ? 0 : 1,
    ruled_as: ruledAsOf(change),
  };
  return { columns, shared };
}

/** Returns what the ruling on a waiting call was made from, as JSON, so that a start compares it once for all calls. */
function ruledAsOf({ task, snapshot }: TaskChange): string | null {
  const { deferral } = task;
  if (deferral === null) return null;
  const context = (snapshot as { context?: Partial<TaskContext> } | null)?.context;
  const isElsewhere = task.hold !== undefined;
  const made = ruledAs({ call: context?.pending?.[0], deferral, isElsewhere });
  return made && JSON.stringify(made);
}

type ThreeColumns<Value> = [brief: Value, snapshot: Value, contents: Value];

/** Most rows are small, and are written as they are. */
function jsonOf(columns: ThreeColumns<unknown>) {
  const json = columns.map((column) => JSON.stringify(column)) as ThreeColumns<string>;
  if (!isWorthSharing(json)) return { shared: null, json };
  const shared = new SharedValues();
  const referring = columns.map((column) => shared.json(column)) as ThreeColumns<string>;
  return shared.values.length === 0 ? { shared: null, json } : { shared, json: referring };
}

/** The names of the columns, in the order of `rowOf`. */
export const taskColumns = [
  ...['id', 'state', 'revision', 'changed_at', 'deadline_at', 'deferral_id', 'machine_version'],
  ...['audit_seq', 'started_call', 'task', 'snapshot', 'context_id', 'contents', 'approvers'],
  ...['owner_org', 'owner', 'expires_at', 'open_hold', 'has_values', 'ruled_as'],
] as const satisfies (keyof TaskColumns)[];

/** Parses a task from its complete row. Throws SyntaxError for an unreadable one. */
function parseTask(row: TaskRow, read = readerOf(row)): Task {
  const { title: _, ...kept } = read(String(row['task'])) as Task;
  return { ...kept, ...(read(String(row['contents'])) as Pick<Task, 'history' | 'answer'>) };
}

/** Parses a task; an unreadable one is returned as failed. Without the column `contents` it has no message contents. */
export function taskOf(row: TaskRow): Task {
  try {
    if ('contents' in row) return parseTask(row);
    return { ...(readerOf(row)(String(row['task'])) as Task), history: [], answer: null };
  } catch {
    return unreadableTask(row);
  }
}

/** Parses a task with the data needed to resume it. */
export function storedTaskOf(row: TaskRow): StoredTask {
  const kept = {
    machineVersion: Number(row['machine_version']),
    auditSeq: Number(row['audit_seq']),
    startedCall: row['started_call'] === null ? null : String(row['started_call']),
  };
  try {
    const read = readerOf(row);
    const column = row['snapshot'];
    // Safe to cast: the column contains only committed values.
    const snapshot = column === null ? null : (read(String(column)) as object);
    return { task: parseTask(row, read), snapshot, ...kept };
  } catch {
    return { task: unreadableTask(row), snapshot: null, ...kept, unreadable: openState(row) };
  }
}

function readerOf(row: TaskRow): (column: string) => unknown {
  return columnReader((row['shared'] ?? null) as SharedColumn);
}

/** Returns what is known about a task whose row is unreadable. */
function unreadableTask(row: TaskRow): Task {
  const changedAt = Number(row['changed_at']);
  return {
    id: String(row['id']),
    contextId: String(row['context_id']),
    state: 'failed',
    text: unreadable.text,
    changedAt,
    createdAt: changedAt,
    revision: Number(row['revision']),
    history: [],
    answer: null,
    requester: null,
    owner: ownerOfColumns(String(row['owner_org']), String(row['owner'])),
    surface: 'legacy',
    deferral: null,
    stage: null,
    wakeAt: null,
    settled: null,
    failure: unreadable,
    records: [],
  };
}

/** Returns the state of an unfinished row; `null` for a final one. */
function openState(row: TaskRow): TaskState | null {
  const state = row['state'] as TaskState;
  return isFinal(state) ? null : state;
}
