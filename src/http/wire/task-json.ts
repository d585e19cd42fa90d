import { ranInRun } from '../../machines/task/ran-calls.ts';
import {
  type Deferral,
  type DeferralStage,
  type Message,
  type RanCall,
  shownState,
  type Task,
} from '../../machines/task/task.ts';
import { type DecisionRecordJson, presentDecisions } from './decision-record-json.ts';
import { type OriginJson, presentOrigin } from './origin-json.ts';
import type { StatesJson } from './states-json.ts';
import { timestamp } from './timestamp.ts';

/** A task on the legacy surface (docs/contract/task.md). */
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
  /** Number of messages dropped from the start of the history. */
  history_left_out?: number;
  deferral?: PendingDeferralJson;
  /** The started calls of a failed or cancelled task. */
  ran?: RanJson[];
  step_up?: StepUpJson;
  /** The running call's wait for a person at another program: the program, the approver there, and the deadline. */
  waits?: { at: string; for: string; until?: string };
  /** The reason why the provider truncated the answer. */
  cut?: string;
  /** Governance records of each call; only on request. */
  decisions?: DecisionRecordJson[];
}

/** Options for formatting a task. */
export interface Presentation {
  /** Number of latest messages to include. */
  historyLength?: number | undefined;
  /** Adds the governance records of each call. */
  withDecisions?: boolean;
  /** Adds the task's origin. */
  withOrigin?: boolean;
  /** The task's path through its chart, included if given. */
  states?: StatesJson | undefined;
}

/** The assurance level required from the caller, and the reason (docs/contract/transports.md). */
export interface StepUpJson {
  tool: string;
  required_acr: string;
  reason: string;
}

/** A call that started (docs/contract/task.md). */
interface RanJson {
  tool: string;
  call_id: string;
  args_sha256: string;
  outcome: RanCall['outcome'];
}

/** An equal call that ran earlier. */
type RepeatsJson = { call_id: string; at: string; approver?: string };

type BindingJson = Pick<PendingDeferralJson, 'runs_sha256' | 'repeats' | 'requests'>;

type MessageJson = { kind: 'message'; metadata?: { role: string } } & Pick<
  Message,
  'role' | 'parts' | 'messageId'
>;

interface PendingDeferralJson {
  id: string;
  tool: string;
  to: string;
  context: string;
  requested_at: string;
  expires_at: string;
  approvers?: string[];
  args_sha256: string;
  /** Digest of everything that determines the call's effect. */
  runs_sha256?: string;
  /** An equal call of the session that ran earlier. */
  repeats?: RepeatsJson;
  requests?: number;
  /** The second target, once it has been asked. */
  escalated_to?: string;
}

/** Formats a task. */
export function presentTask(task: Task, presentation: Presentation = {}): TaskJson {
  const { historyLength } = presentation;
  const { id, contextId, text, changedAt, revision, history, answer } = task;
  const said = historyLength === undefined ? history : lastOf(history, historyLength);
  return {
    id,
    contextId,
    kind: 'task',
    status: {
      state: shownState(task),
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

/**
 * Returns the assurance level that the caller needs; `null` for a task that did not fail because of missing assurance.
 */
export function stepUpOf({ failure }: Task): StepUpJson | null {
  if (failure?.kind !== 'stepUp') return null;
  return { tool: failure.tool, required_acr: failure.requiredAcr, reason: failure.reason };
}

function metadataOf(
  task: Task,
  { withDecisions = false, withOrigin = false, states }: Presentation,
): Pick<TaskJson, 'metadata'> {
  const { deferral, stage, records, leftOut = 0, cut, waits } = task;
  const ran = ranInRun(task);
  const stepUp = stepUpOf(task);
  const metadata: TaskMetadataJson = {
    ...(leftOut === 0 ? {} : { history_left_out: leftOut }),
    ...(deferral === null ? {} : { deferral: presentPending(deferral, stage) }),
    ...(hasStopped(task) && ran.length > 0 ? { ran: ran.map(presentRan) } : {}),
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
    ...presentBinding(deferral),
    ...(stage === 'escalated' && deferral.escalateTo !== null
      ? { escalated_to: deferral.escalateTo }
      : {}),
  };
}

/** Formats the data that a deferral is bound to in addition to its arguments, and the equal call that ran earlier. */
export function presentBinding({ runsSha256, repeats, requests }: Deferral): BindingJson {
  return {
    ...(runsSha256 === undefined ? {} : { runs_sha256: runsSha256 }),
    ...(repeats === undefined ? {} : { repeats: presentRepeats(repeats) }),
    ...(requests === undefined ? {} : { requests }),
  };
}

function presentRepeats({ callId, at, approver }: NonNullable<Deferral['repeats']>): RepeatsJson {
  const repeats = { call_id: callId, at: timestamp(at) };
  return approver === undefined ? repeats : { ...repeats, approver };
}

function hasStopped({ state }: Task): boolean {
  return state === 'failed' || state === 'canceled';
}

function presentRan({ tool, callId, argsSha256, outcome }: RanCall): RanJson {
  return { tool, call_id: callId, args_sha256: argsSha256, outcome };
}

/** Formats a message. */
export function presentMessage({ role, parts, messageId, sentAs }: Message): MessageJson {
  const metadata = sentAs === undefined ? {} : { metadata: { role: sentAs } };
  return { kind: 'message', role, parts, messageId, ...metadata };
}

function agentSays(messageId: string, text: string): Message {
  return { role: 'agent', parts: [{ kind: 'text', text }], messageId };
}

function lastOf<Item>(items: readonly Item[], count: number): readonly Item[] {
  return count === 0 ? [] : items.slice(-count);
}
