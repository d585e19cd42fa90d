import { isFinal } from '../../../../machines/domain/task.ts';
import type { ListedTask } from '../tasks/task-order.ts';

/** The state of a workflow run; `held` needs approval. */
export type RunState = 'held' | 'working' | 'failed' | 'canceled' | 'completed';

/** One workflow run across all agents: its tasks by stage and step. */
export interface WorkflowRun {
  /** ID of the execution; empty for tasks without one. */
  id: string;
  /** IDs of the definitions named by its tasks; only one if the caller is consistent. */
  workflows: string[];
  agents: string[];
  state: RunState;
  tasks: number;
  /** Number of ended tasks. */
  ended: number;
  /** Number of held tasks. */
  held: number;
  failed: number;
  /** Epoch milliseconds. */
  began: number;
  /** Epoch milliseconds of its end; `null` while one of its tasks is running. */
  done: number | null;
  stages: Stage[];
}

/** A stage with its steps; the ID is empty for tasks without one. */
export interface Stage {
  id: string;
  steps: { id: string; tasks: ListedTask[] }[];
}

/**
 * Groups tasks by execution, stage and step: latest run first, stages and steps in order of their start. A task without
 * any identifier belongs to no run.
 */
export function groupRuns(tasks: readonly ListedTask[]): WorkflowRun[] {
  const tagged = tasks.filter(({ workflow }) => workflow !== undefined && isTagged(workflow));
  const runs = Map.groupBy(tagged, ({ workflow }) => workflow?.workflow_execution_id ?? '');
  return [...runs]
    .map(([id, its]) => runOf(id, its.toSorted(byBeginning)))
    .toSorted((one, other) => other.began - one.began || (one.id < other.id ? -1 : 1));
}

/** Returns the milliseconds that a task has taken so far. */
export function durationOf(task: ListedTask, now: number): number {
  const end = isFinal(task.state) ? Date.parse(task.changed_at) : now;
  return Math.max(0, end - Date.parse(task.created_at));
}

/** Returns a task's position within its run, as fractions of its length. */
export function placeIn(
  { began, done }: Pick<WorkflowRun, 'began' | 'done'>,
  task: ListedTask,
  now: number,
): { from: number; width: number } {
  const length = Math.max(1, (done ?? now) - began);
  const from = Math.min(1, Math.max(0, (Date.parse(task.created_at) - began) / length));
  const width = Math.min(1 - from, durationOf(task, now) / length);
  return { from, width };
}

function isTagged(workflow: NonNullable<ListedTask['workflow']>): boolean {
  return Object.values(workflow).some((id) => id !== undefined && id !== '');
}

function runOf(id: string, tasks: readonly ListedTask[]): WorkflowRun {
  const open = tasks.filter(({ state }) => !isFinal(state));
  const stages = Map.groupBy(tasks, ({ workflow }) => workflow?.stage_id ?? '');
  return {
    id,
    workflows: distinct(tasks.map(({ workflow }) => workflow?.workflow_id ?? '')),
    agents: distinct(tasks.map(({ agent }) => agent)).toSorted(),
    state: stateOf(tasks),
    tasks: tasks.length,
    ended: tasks.length - open.length,
    held: count(tasks, 'deferred'),
    failed: count(tasks, 'failed'),
    began: Math.min(...tasks.map(({ created_at }) => Date.parse(created_at))),
    done: open.length > 0 ? null : Math.max(...tasks.map((task) => Date.parse(task.changed_at))),
    stages: [...stages].map(([stage, its]) => ({
      id: stage,
      steps: [...Map.groupBy(its, ({ workflow }) => workflow?.step_id ?? '')].map(
        ([step, ofStep]) => ({ id: step, tasks: ofStep }),
      ),
    })),
  };
}

/** Held tasks take precedence, because the user can act on them. */
function stateOf(tasks: readonly ListedTask[]): RunState {
  if (count(tasks, 'deferred') > 0) return 'held';
  if (tasks.some(({ state }) => !isFinal(state))) return 'working';
  if (count(tasks, 'failed') > 0) return 'failed';
  return count(tasks, 'canceled') > 0 ? 'canceled' : 'completed';
}

function count(tasks: readonly ListedTask[], state: string): number {
  return tasks.filter((task) => task.state === state).length;
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].filter((text) => text !== '');
}

function byBeginning(one: ListedTask, other: ListedTask): number {
  if (one.created_at !== other.created_at) return one.created_at < other.created_at ? -1 : 1;
  return `${one.agent}/${one.id}` < `${other.agent}/${other.id}` ? -1 : 1;
}
