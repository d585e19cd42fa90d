import type { RanCall, Task, ToolCall } from '../domain/task.ts';
import { cutToRunes } from '../text.ts';
import { callEndOf, type ToolOutcome } from './task-events.ts';
import type { TaskContext, TaskRun } from './task-input.ts';

/** Maximum number of earlier runs' calls stored in a run. */
const mostBefore = 50;

/** Maximum stored length of a call's arguments in code points. */
const longestArguments = 300;

/** Adds a run's current call to its started calls, with the time in epoch milliseconds. */
export function withStart(context: TaskContext, call: ToolCall, at: number): TaskRun {
  return { ...context.run, ran: startedCalls(context, call, at) };
}

function startedCalls(context: TaskContext, call: ToolCall, at: number): RanCall[] {
  const { now, held } = context;
  const { ran } = context.run;
  if (ran.some(({ callId }) => callId === call.id)) {
    return at === 0 ? ran : changed(ran, call, (one) => ({ ...one, at }));
  }
  const { id: callId, tool, argsSha256 } = call;
  const args = cutToRunes(JSON.stringify(call.args), longestArguments);
  const { reserved } = call;
  const started: RanCall = {
    ...{ tool, callId, argsSha256, args, outcome: 'unknown', at: at || now },
    ...(reserved === undefined ? {} : { reserved }),
  };
  const isReleased = held?.isReleased === true && held.deferral.id === callId;
  const approver = isReleased ? context.settled?.approver : undefined;
  return [...ran, approver === undefined ? started : { ...started, approver }];
}

/** Records the end of one of a run's calls; a barred call never ran. */
export function withOutcome(run: TaskRun, call: ToolCall, outcome: ToolOutcome): TaskRun {
  const { kind, findings } = outcome;
  const others = run.ran.filter(({ callId }) => callId !== call.id);
  if (kind === 'barred') return { ...run, ran: others };
  const end = callEndOf(outcome);
  const known: RanCall['outcome'] = kind === 'withheld' ? kind : end === 'not_run' ? 'failed' : end;
  const labels = [...new Set(findings.map(({ rule }) => rule))];
  const ended = {
    outcome: known,
    ...(kind === 'withheld' && end !== 'succeeded' ? { of: end } : {}),
    ...(labels.length === 0 ? {} : { labels }),
  };
  return { ...run, ran: changed(run.ran, call, (one) => ({ ...one, ...ended })) };
}

/** Returns a run's calls that started in it, not in earlier runs. */
export function ranInRun({ ran = [] }: { ran?: RanCall[] }): RanCall[] {
  return ran.filter(({ isEarlier }) => isEarlier !== true);
}

/** Returns all started calls of a session's tasks, oldest first; `null` if a task no longer has all of its calls. */
export function allRan(tasks: readonly Task[]): RanCall[] | null {
  const isCut = tasks.some(
    ({ ran = [] }) => ran.filter((one) => one.isEarlier === true).length >= mostBefore,
  );
  return isCut ? null : sortedRan(tasks);
}

/** Returns the newest started calls of a session's tasks for the next run, oldest first. */
export function ranBefore(tasks: readonly Task[]): RanCall[] {
  return sortedRan(tasks)
    .slice(-mostBefore)
    .map((one) => ({ ...one, isEarlier: true }));
}

function sortedRan(tasks: readonly Task[]): RanCall[] {
  const calls = new Map(tasks.flatMap(({ ran = [] }) => ran.map((one) => [one.callId, one])));
  return [...calls.values()].toSorted((one, other) => one.at - other.at);
}

function changed(
  ran: readonly RanCall[],
  { id }: ToolCall,
  change: (one: RanCall) => RanCall,
): RanCall[] {
  return ran.map((one) => (one.callId === id ? change(one) : one));
}
