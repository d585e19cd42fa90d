import type { SQLOutputValue } from 'node:sqlite';
import { isFinal, type Task, type TaskState } from '../../../machines/domain/task.ts';
import { unreadable } from '../../../machines/task/failure-of.ts';
import {
  oldestTaskMachineVersion,
  taskMachineVersion,
} from '../../../machines/task/snapshot-steps.ts';
import { titleOf } from '../../../machines/task/task-title.ts';
import { openHoldOf } from './open-holds.ts';
import { approversOf, ownerColumns, ownerOfColumns } from './task-owners.ts';
import type { StoredTask, TaskChange } from './task-rows.ts';

/** A row of the task table, or some of its columns. */
export type TaskRow = Record<string, SQLOutputValue>;

/** Columns of a task without message contents. */
export const briefColumns =
  'position, id, context_id, state, revision, changed_at, owner_org, owner, task';

/** Columns of a complete task. */
export const wholeColumns = `${briefColumns}, contents`;

/** SQL condition for rows whose snapshots this release can resume. */
export const isKnown = `machine_version BETWEEN ${oldestTaskMachineVersion} AND ${taskMachineVersion}`;

/** Returns the JSON of a task without message contents. Lists show the title of a wait. */
export function briefOf(task: Task): string {
  const { history: _, answer: __, ...rest } = task;
  return JSON.stringify(task.deferral === null ? rest : { ...rest, title: titleOf(task) });
}

/** The columns of a task's row but its position. */
export type TaskColumns = ReturnType<typeof rowOf>;

/** Returns the columns of a changed task. */
export function rowOf(change: TaskChange) {
  const { task } = change;
  const { history, answer } = task;
  const [ownerOrg, owner] = ownerColumns(task);
  return {
    id: task.id,
    state: task.state,
    revision: task.revision,
    changed_at: task.changedAt,
    deadline_at: task.wakeAt,
    deferral_id: task.deferral?.id ?? null,
    machine_version: change.machineVersion,
    audit_seq: change.auditSeq,
    started_call: change.startedCall,
    task: briefOf(task),
    snapshot: change.snapshot,
    context_id: task.contextId,
    contents: JSON.stringify({ history, answer }),
    approvers: approversOf(task),
    owner_org: ownerOrg,
    owner,
    expires_at: task.deferral?.expiresAt ?? null,
    open_hold: openHoldOf(task),
  };
}

/** The names of the columns, in the order of `rowOf`. */
export const taskColumns = [
  ...['id', 'state', 'revision', 'changed_at', 'deadline_at', 'deferral_id', 'machine_version'],
  ...['audit_seq', 'started_call', 'task', 'snapshot', 'context_id', 'contents', 'approvers'],
  ...['owner_org', 'owner', 'expires_at', 'open_hold'],
] as const satisfies (keyof TaskColumns)[];

/** Parses a task from its complete row. Throws SyntaxError for an unreadable one. */
function parseTask(row: TaskRow): Task {
  const { title: _, ...kept } = JSON.parse(String(row['task'])) as Task;
  return { ...kept, ...(JSON.parse(String(row['contents'])) as Pick<Task, 'history' | 'answer'>) };
}

/** Parses a task; an unreadable one is returned as failed. Without the column `contents` it has no message contents. */
export function taskOf(row: TaskRow): Task {
  try {
    if ('contents' in row) return parseTask(row);
    return { ...(JSON.parse(String(row['task'])) as Task), history: [], answer: null };
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
    return { task: parseTask(row), snapshot: snapshotOf(row), ...kept };
  } catch {
    return { task: unreadableTask(row), snapshot: null, ...kept, unreadable: openState(row) };
  }
}

/** Safe to cast: the column contains only committed values. Throws SyntaxError if it is corrupted. */
function snapshotOf(row: TaskRow): unknown {
  const snapshot = row['snapshot'];
  return snapshot === null ? null : JSON.parse(String(snapshot));
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
