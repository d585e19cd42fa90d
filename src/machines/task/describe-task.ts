import {
  type DeferralStage,
  deferralStages,
  type Failure,
  isFinal,
  type Message,
  type Task,
  type TaskState,
  taskStates,
} from '../domain/task.ts';
import { nextMoment } from '../governance/defer-policy.ts';
import { accountDueAt } from '../hold/hold-machine.ts';
import { oneLine } from '../legible.ts';
import { type BoundHistory, boundHistory } from './bound-history.ts';
import { withEveryOutcome } from './decided-calls.ts';
import { extrasIn, type TaskContext } from './task-input.ts';

/** The parts of a snapshot that determine the public task. */
export interface DescribedSnapshot {
  tags: ReadonlySet<string>;
  context: TaskContext;
}

/**
 * Derives the public task from a snapshot. `changedAt` (epoch milliseconds) is copied from the previous description
 * while state and text are unchanged.
 */
export function describeTask(
  { tags, context }: DescribedSnapshot,
  at: number,
  revision: number,
  previous: Task | null,
): Task {
  const { run } = context;
  const state = stateOf({ tags });
  const text = textOf(state, context);
  const stage = stageOf(state, tags);
  const { messages, leftOut } = historyOf(context);
  const unchanged = previous !== null && previous.state === state && previous.text === text;
  const task: Task = {
    id: run.id,
    contextId: run.contextId,
    state,
    text,
    changedAt: unchanged ? previous.changedAt : at,
    createdAt: run.createdAt,
    revision,
    history: messages,
    ...(leftOut === 0 ? {} : { leftOut }),
    answer: context.answer,
    ...(state === 'completed' ? extrasOf(context) : {}),
    ...(context.cut === undefined ? {} : { cut: context.cut }),
    requester: run.requester,
    ...(run.owner === undefined ? {} : { owner: run.owner }),
    surface: run.surface,
    deferral: context.deferral,
    stage,
    wakeAt: wakeAt(context, stage) ?? accountDueAt(run.hold),
    settled: context.settled,
    ...(run.decided === undefined ? {} : { decided: run.decided }),
    failure: context.failure,
    records: context.records,
    ...(run.ran.length === 0 ? {} : { ran: run.ran }),
    ...(context.waits ? { waits: context.waits } : {}),
    ...(isEmpty(run.tags) ? {} : { tags: run.tags }),
    ...(context.spent.usage === null ? {} : { usage: context.spent.usage }),
    ...(run.hold === undefined ? {} : { hold: run.hold }),
    ...approvedOf(context),
  };
  // The program that runs the call of a hold reports its outcome later.
  return isFinal(state) && run.hold?.account === undefined ? withEveryOutcome(task) : task;
}

/** The approval of a hold is kept until its program receives the call. */
function approvedOf({ run, held }: TaskContext): Pick<Task, 'approved'> {
  return held !== null && run.hold?.account?.state === 'granted' ? { approved: held.deferral } : {};
}

function isEmpty(tags: object): boolean {
  for (const _ in tags) return false;
  return true;
}

/** Returns a snapshot's public state. */
export function stateOf({ tags }: Pick<DescribedSnapshot, 'tags'>): TaskState {
  return taskStates.find((tag) => tags.has(tag)) ?? 'working';
}

/** Returns a new run's task as it was when the request was accepted. */
export function describeSubmitted(task: Task): Task {
  return {
    ...task,
    state: 'submitted',
    text: null,
    failure: null,
    deferral: null,
    stage: null,
    wakeAt: null,
    answer: null,
  };
}

/** Returns a task after an unexpected error stopped its chart. */
export function describeCrash(task: Task, failure: Failure, at: number): Task {
  return {
    ...withEveryOutcome(task),
    state: 'failed',
    text: failure.text,
    changedAt: at,
    failure,
    deferral: null,
    stage: null,
    wakeAt: null,
    answer: null,
  };
}

/** Returns the other content of the result that is the answer of a run without a model. */
function extrasOf({ run, exchanges }: TaskContext): Pick<Task, 'extras'> {
  const last = exchanges.at(-1);
  if (run.hasModel || last === undefined) return {};
  const extras = extrasIn(last);
  return isEmpty(extras) ? {} : { extras };
}

function stageOf(state: TaskState, tags: DescribedSnapshot['tags']): DeferralStage | null {
  if (state !== 'deferred') return null;
  return deferralStages.find((stage) => tags.has(stage)) ?? 'asked';
}

function wakeAt({ deferral }: TaskContext, stage: DeferralStage | null): number | null {
  return deferral === null || stage === null ? null : nextMoment(deferral, stage);
}

function textOf(state: TaskState, context: TaskContext): string | null {
  if (state === 'completed') return context.answer?.flatMap(textsOf).join('\n') ?? null;
  if (state === 'failed') return context.failure?.text ?? null;
  if (state === 'canceled') return `canceled: ${context.cancelReason ?? 'external_signal'}`;
  const { waits } = context;
  if (state === 'working' && waits) return `waits at ${waits.at} for ${waits.for}`;
  if (state !== 'deferred' || context.deferral === null) return null;
  const { to, tool, edits } = context.deferral;
  const editor = edits?.at(-1)?.approver;
  const changed = editor === undefined ? '' : `; ${oneLine(editor)} changed its arguments`;
  return `Deferred: awaiting ${to} decision on ${tool}${changed}`;
}

function historyOf({ run, followUps, answer }: TaskContext): BoundHistory {
  const { id, history, leftOut, request } = run;
  const said: Message[] = [...history, request, ...followUps.map(({ message }) => message)];
  if (answer !== null) {
    const messageId = `${id}:answer:${leftOut + said.length}`;
    said.push({ role: 'agent', parts: answer, messageId });
  }
  return boundHistory(said, leftOut, said.length - history.length);
}

function textsOf(part: NonNullable<TaskContext['answer']>[number]): string[] {
  if (part.kind === 'file') return [];
  return [part.kind === 'text' ? part.text : ''];
}
