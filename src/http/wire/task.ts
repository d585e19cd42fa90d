import { z } from 'zod';
import {
  type Message,
  type RanCall,
  shownState,
  type Task,
  taskStates,
} from '../../machines/domain/task.ts';
import { ranInRun } from '../../machines/task/ran-calls.ts';
import { workflowHeaders } from '../../machines/workflow.ts';
import { decisionRecord, presentDecisions } from './decision-record.ts';
import { callEdit, digest, pendingDeferral, presentEdit, presentPending } from './deferral.ts';
import { message, part, presentMessage } from './message.ts';
import { presentRequester, requester } from './requester.ts';
import { statePath } from './states.ts';
import { time, timestamp } from './timestamp.ts';

/** The schema of a task's origin: time, requester and workflow. */
export const origin = z.object({
  created_at: time,
  requester: requester.nullable(),
  workflow: z
    .record(z.string(), z.string())
    .describe('The workflow named in the request.')
    .exactOptional(),
});

/** Formats a task's origin. */
export function presentOrigin({ createdAt, requester, tags = {} }: Task): z.input<typeof origin> {
  const named = workflowHeaders.flatMap(([, key]): [string, string][] => {
    const value = tags[key];
    return value === undefined ? [] : [[key, value]];
  });
  const workflow = Object.fromEntries(named);
  return {
    created_at: timestamp(createdAt),
    requester: presentRequester(requester),
    ...(Object.keys(workflow).length === 0 ? {} : { workflow }),
  };
}

const stepUp = z.object({ tool: z.string(), required_acr: z.string(), reason: z.string() });

const ranCall = z.object({
  tool: z.string(),
  call_id: z.string(),
  args_sha256: digest,
  outcome: z.enum(['succeeded', 'failed', 'withheld', 'unknown', 'not_run']),
});

const metadata = z.object({
  history_left_out: z
    .int()
    .describe('How many messages were dropped from the start of the history.')
    .exactOptional(),
  deferral: pendingDeferral.exactOptional(),
  ran: z
    .array(ranCall)
    .describe('The calls that started, of a task that failed or was canceled.')
    .exactOptional(),
  edits: z
    .array(callEdit.extend({ tool: z.string() }))
    .describe('Changes of arguments by approvers, oldest first.')
    .exactOptional(),
  step_up: stepUp.exactOptional(),
  waits: z
    .object({ at: z.string(), for: z.string(), until: z.string().exactOptional() })
    .describe(
      'The place where the running call waits for a person: the program, its target, and the deadline.',
    )
    .exactOptional(),
  cut: z
    .enum(['length', 'content_filter'])
    .describe('Why the provider cut the answer.')
    .exactOptional(),
  decisions: z.array(decisionRecord).exactOptional(),
  ...origin.partial().shape,
  ...statePath.partial().shape,
});

/** A task on the legacy surface (docs/contract/task.md). */
export const task = z
  .object({
    id: z.string(),
    contextId: z.string(),
    kind: z.literal('task'),
    status: z.object({
      state: z.enum(taskStates),
      message: message.exactOptional(),
      timestamp: time,
    }),
    history: z.array(message).exactOptional(),
    artifacts: z
      .array(
        z.object({ artifactId: z.string(), name: z.literal('response'), parts: z.array(part) }),
      )
      .exactOptional(),
    metadata: metadata.exactOptional(),
  })
  .meta({ id: 'Task' });

export const taskPage = z
  .object({ tasks: z.array(task), next_cursor: z.string().exactOptional() })
  .meta({ id: 'TaskPage' });

/** Options for formatting a task. */
export interface Presentation {
  /** Number of latest messages to include. */
  historyLength?: number | undefined;
  /** Adds the governance records of each call. */
  withDecisions?: boolean;
  /** Adds the task's origin. */
  withOrigin?: boolean;
  /** The task's path through its chart, included if given. */
  states?: z.input<typeof statePath> | undefined;
}

/** Formats a task. */
export function presentTask(shown: Task, presentation: Presentation = {}): z.input<typeof task> {
  const { historyLength } = presentation;
  const { id, contextId, text, changedAt, revision, history, answer } = shown;
  const said = historyLength === undefined ? history : lastOf(history, historyLength);
  return {
    id,
    contextId,
    kind: 'task',
    status: {
      state: shownState(shown),
      ...(text === null
        ? {}
        : { message: presentMessage(agentSays(`${id}:status:${revision}`, text)) }),
      timestamp: timestamp(changedAt),
    },
    ...(said.length === 0 ? {} : { history: said.map(presentMessage) }),
    ...(answer === null
      ? {}
      : { artifacts: [{ artifactId: `${id}:response`, name: 'response', parts: answer }] }),
    ...metadataOf(shown, presentation),
  };
}

/**
 * Returns the assurance level that the caller needs; `null` for a task that did not fail because of missing assurance
 * (docs/contract/transports.md).
 */
export function stepUpOf({ failure }: Task): z.input<typeof stepUp> | null {
  if (failure?.kind !== 'stepUp') return null;
  return { tool: failure.tool, required_acr: failure.requiredAcr, reason: failure.reason };
}

function metadataOf(
  task: Task,
  { withDecisions = false, withOrigin = false, states }: Presentation,
): { metadata?: z.input<typeof metadata> } {
  const { records, leftOut = 0, cut, waits, decided = [] } = task;
  const ran = ranInRun(task);
  const edits = decided.flatMap(({ tool, edit }) =>
    edit === undefined ? [] : [{ tool, ...presentEdit(edit) }],
  );
  const pending = presentPending(task);
  const stepUp = stepUpOf(task);
  const shown: z.input<typeof metadata> = {
    ...(leftOut === 0 ? {} : { history_left_out: leftOut }),
    ...(pending === null ? {} : { deferral: pending }),
    ...(hasStopped(task) && ran.length > 0 ? { ran: ran.map(presentRan) } : {}),
    ...(edits.length === 0 ? {} : { edits }),
    ...(stepUp === null ? {} : { step_up: stepUp }),
    ...(waits === undefined ? {} : { waits }),
    ...(cut === undefined ? {} : { cut }),
    ...(withDecisions && records.length > 0 ? { decisions: presentDecisions(records) } : {}),
    ...(withOrigin ? presentOrigin(task) : {}),
    ...states,
  };
  return Object.keys(shown).length === 0 ? {} : { metadata: shown };
}

function hasStopped({ state }: Task): boolean {
  return state === 'failed' || state === 'canceled';
}

function presentRan({ tool, callId, argsSha256, outcome }: RanCall): z.input<typeof ranCall> {
  return { tool, call_id: callId, args_sha256: argsSha256, outcome };
}

function agentSays(messageId: string, text: string): Message {
  return { role: 'agent', parts: [{ kind: 'text', text }], messageId };
}

function lastOf<Item>(items: readonly Item[], count: number): readonly Item[] {
  return count === 0 ? [] : items.slice(-count);
}
