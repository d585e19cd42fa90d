import type { SQLOutputValue } from 'node:sqlite';
import { unreadable } from '../../../machines/task/failure-of.ts';
import { oldestTaskMachineVersion } from '../../../machines/task/migrate-snapshot.ts';
import { isFinal, type Task, type TaskState } from '../../../machines/task/task.ts';
import { taskMachineVersion } from '../../../machines/task/task-machine.ts';
import { ownerOfColumns } from './task-owners.ts';
import type { StoredTask } from './task-rows.ts';

/** A row of the table of tasks, or the columns of it that were asked for. */
export type TaskRow = Record<string, SQLOutputValue>;

/** The columns that make up a task without what was said. */
export const briefColumns =
  'position, id, context_id, state, revision, changed_at, owner_org, owner, task';

/** The columns that make up a whole task. */
export const wholeColumns = `${briefColumns}, contents`;

/** SQL that tells the rows whose snapshots this release can go on with. */
export const isKnown = `machine_version BETWEEN ${oldestTaskMachineVersion} AND ${taskMachineVersion}`;

/** Takes a task apart: what lists show, and what was said, which they leave out. Both are JSON. */
export function columnsOf(task: Task): { brief: string; contents: string } {
  const { history, answer, ...brief } = task;
  return { brief: JSON.stringify(brief), contents: JSON.stringify({ history, answer }) };
}

/** Puts a task together from its whole row. Throws SyntaxError for one that cannot be read. */
function parseTask(row: TaskRow): Task {
  const kept = JSON.parse(String(row['task'])) as Task;
  const contents = row['contents'];
  // A row that an earlier version wrote, and that SQLite could not take apart, holds everything in one.
  if (contents === null) return kept;
  return { ...kept, ...(JSON.parse(String(contents)) as Pick<Task, 'history' | 'answer'>) };
}

/** Puts a task together; one that cannot be read is told as failed. Without `contents` nothing that was said is in it. */
export function taskOf(row: TaskRow): Task {
  try {
    if ('contents' in row) return parseTask(row);
    return { ...(JSON.parse(String(row['task'])) as Task), history: [], answer: null };
  } catch {
    return unreadableTask(row);
  }
}

/** Puts a task together with what is needed to go on with it. */
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

/** The column holds what a commit put there. Throws SyntaxError when it does not any more. */
function snapshotOf(row: TaskRow): unknown {
  const snapshot = row['snapshot'];
  return snapshot === null ? null : JSON.parse(String(snapshot));
}

/** Tells what can be said of a task whose row cannot be read. */
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

/** Returns the state in which a row stands that has not ended; `null` for one that has. */
function openState(row: TaskRow): TaskState | null {
  const state = row['state'] as TaskState;
  return isFinal(state) ? null : state;
}
