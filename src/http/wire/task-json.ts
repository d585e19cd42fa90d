import type { Deferral, DeferralStage, Message, Task } from '../../machines/task/task.ts';
import { type DecisionRecordJson, presentDecisions } from './decision-record-json.ts';
import { type OriginJson, presentOrigin } from './origin-json.ts';
import type { StatesJson } from './states-json.ts';
import { timestamp } from './timestamp.ts';

/** A task on the legacy surface (contract section 4). */
export interface TaskJson {
  id: string;
  contextId: string;
  kind: 'task';
  status: { state: string; message?: MessageJson; timestamp: string };
  history?: MessageJson[];
  artifacts?: { artifactId: string; name: 'response'; parts: Message['parts'] }[];
  metadata?: TaskMetadataJson;
}

interface TaskMetadataJson extends Partial<OriginJson>, Partial<StatesJson> {
  /** The number of messages dropped from the beginning of the history. */
  history_left_out?: number;
  deferral?: PendingDeferralJson;
  step_up?: StepUpJson;
  /** Where the call that runs waits for a person. */
  waits?: { at: string; for: string; until?: string };
  /** Why the provider cut the answer. */
  cut?: string;
  /** The governance records of each call, on request only. */
  decisions?: DecisionRecordJson[];
}

/** The extent of a presented task. */
export interface Presentation {
  /** Keeps that many of the latest messages. */
  historyLength?: number | undefined;
  /** Adds the governance records of each call. */
  withDecisions?: boolean;
  /** Adds where the task comes from. */
  withOrigin?: boolean;
  /** The way of the task through its chart, which is added when it is given. */
  states?: StatesJson | undefined;
}

/** The assurance level required of the caller, and its reason (contract section 5). */
export interface StepUpJson {
  tool: string;
  required_acr: string;
  reason: string;
}

type MessageJson = { kind: 'message' } & Message;

interface PendingDeferralJson {
  id: string;
  tool: string;
  to: string;
  context: string;
  requested_at: string;
  expires_at: string;
  approvers?: string[];
  args_sha256: string;
  /** The target that was asked as well, once it was. */
  escalated_to?: string;
}

/** Presents a task. */
export function presentTask(task: Task, presentation: Presentation = {}): TaskJson {
  const { historyLength } = presentation;
  const { id, contextId, state, text, changedAt, revision, history, answer } = task;
  const said = historyLength === undefined ? history : lastOf(history, historyLength);
  return {
    id,
    contextId,
    kind: 'task',
    status: {
      state,
      ...(text === null
        ? {}
        : { message: presentMessage(agentSays(`${id}:status:${revision}`, text)) }),
      timestamp: timestamp(changedAt),
    },
    ...(said.length === 0 ? {} : { history: said.map(presentMessage) }),
    ...(answer === null
      ? {}
      : { artifacts: [{ artifactId: `${id}:response`, name: 'response', parts: answer }] }),
    ...metadataOf(task, presentation),
  };
}

/** Returns the assurance level that the caller needs; `null` for a task that did not fail for want of it. */
export function stepUpOf({ failure }: Task): StepUpJson | null {
  if (failure?.kind !== 'stepUp') return null;
  return { tool: failure.tool, required_acr: failure.requiredAcr, reason: failure.reason };
}

function metadataOf(
  task: Task,
  { withDecisions = false, withOrigin = false, states }: Presentation,
): Pick<TaskJson, 'metadata'> {
  const { deferral, stage, records, leftOut = 0, cut, waits } = task;
  const stepUp = stepUpOf(task);
  const metadata: TaskMetadataJson = {
    ...(leftOut === 0 ? {} : { history_left_out: leftOut }),
    ...(deferral === null ? {} : { deferral: presentPending(deferral, stage) }),
    ...(stepUp === null ? {} : { step_up: stepUp }),
    ...(waits === undefined ? {} : { waits }),
    ...(cut === undefined ? {} : { cut }),
    ...(withDecisions && records.length > 0 ? { decisions: presentDecisions(records) } : {}),
    ...(withOrigin ? presentOrigin(task) : {}),
    ...states,
  };
  return Object.keys(metadata).length === 0 ? {} : { metadata };
}

function presentPending(deferral: Deferral, stage: DeferralStage | null): PendingDeferralJson {
  return {
    id: deferral.id,
    tool: deferral.tool,
    to: deferral.to,
    context: deferral.context,
    requested_at: timestamp(deferral.requestedAt),
    expires_at: timestamp(deferral.expiresAt),
    ...(deferral.approvers === null ? {} : { approvers: deferral.approvers }),
    args_sha256: deferral.argsSha256,
    ...(stage === 'escalated' && deferral.escalateTo !== null
      ? { escalated_to: deferral.escalateTo }
      : {}),
  };
}

/** Writes a message. */
export function presentMessage({ role, parts, messageId }: Message): MessageJson {
  return { kind: 'message', role, parts, messageId };
}

function agentSays(messageId: string, text: string): Message {
  return { role: 'agent', parts: [{ kind: 'text', text }], messageId };
}

function lastOf<Item>(items: readonly Item[], count: number): readonly Item[] {
  return count === 0 ? [] : items.slice(-count);
}
