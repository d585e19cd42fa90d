import type { Deferral, Message, Task } from '../../machines/task/task.ts';

/** How a task looks on the legacy surface (contract section 4). */
export interface TaskJson {
  id: string;
  contextId: string;
  kind: 'task';
  status: { state: string; message?: MessageJson; timestamp: string };
  history?: MessageJson[];
  artifacts?: { artifactId: string; name: 'response'; parts: Message['parts'] }[];
  metadata?: { deferral?: PendingDeferralJson; step_up?: StepUpJson };
}

/** What the caller has to sign in with again, and for what (contract section 5). */
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
}

/** Presents a task; `historyLength` keeps that many of the latest messages. */
export function presentTask(task: Task, historyLength?: number): TaskJson {
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
    ...metadataOf(task),
  };
}

/** RFC 3339 UTC with milliseconds. */
export function timestamp(at: number): string {
  return new Date(at).toISOString();
}

/** Says what a caller has to sign in with again; `null` for a task that did not fail for it. */
export function stepUpOf({ failure }: Task): StepUpJson | null {
  if (failure?.kind !== 'stepUp') return null;
  return { tool: failure.tool, required_acr: failure.requiredAcr, reason: failure.reason };
}

function metadataOf(task: Task): Pick<TaskJson, 'metadata'> {
  if (task.deferral !== null) return { metadata: { deferral: presentPending(task.deferral) } };
  const stepUp = stepUpOf(task);
  return stepUp === null ? {} : { metadata: { step_up: stepUp } };
}

function presentPending(deferral: Deferral): PendingDeferralJson {
  return {
    id: deferral.id,
    tool: deferral.tool,
    to: deferral.to,
    context: deferral.context,
    requested_at: timestamp(deferral.requestedAt),
    expires_at: timestamp(deferral.expiresAt),
    ...(deferral.approvers === null ? {} : { approvers: deferral.approvers }),
    args_sha256: deferral.argsSha256,
  };
}

function presentMessage({ role, parts, messageId }: Message): MessageJson {
  return { kind: 'message', role, parts, messageId };
}

function agentSays(messageId: string, text: string): Message {
  return { role: 'agent', parts: [{ kind: 'text', text }], messageId };
}

function lastOf<Item>(items: readonly Item[], count: number): readonly Item[] {
  return count === 0 ? [] : items.slice(-count);
}
