import { onlyOptions } from '../domain/rule-options.ts';
import type { Caller, CallOutcome, Deferral, DeferralStage, Task } from '../domain/task.ts';
import { callerName, isOperator } from '../governance/caller-name.ts';
import type { ApprovalNotice, ApprovalOutcome, ApprovalRequest } from './approval-notice.ts';

/** The stored data of a waiting task, without the arguments of its held call. */
export interface AskedRecord {
  taskId: string;
  deferral: Omit<Deferral, 'args'>;
  requester: Caller | null;
  stage: DeferralStage;
}

/** The stored data of a task at the moment its wait ended. */
export type EndedRecord = Pick<Task, 'state' | 'text' | 'changedAt' | 'settled' | 'failure'> & {
  /** The outcome of the approved call; absent while unknown. */
  outcome?: CallOutcome;
};

/** Builds the notice for one target, `channel:<adapter>:<target>`; `ended` is `null` while the task waits. */
export function noticeOf(
  target: string,
  asked: AskedRecord,
  ended: EndedRecord | null,
): ApprovalNotice {
  return {
    request: requestOf(target, asked),
    outcome: ended === null ? null : outcomeOf(asked.deferral, ended),
  };
}

/** Returns the outcome of a deferral's wait. */
export function outcomeOf(
  { id, onTimeout, expiresAt }: Pick<Deferral, 'id' | 'onTimeout' | 'expiresAt'>,
  ended: EndedRecord,
): ApprovalOutcome {
  const { state, text, settled, failure, changedAt: at } = ended;
  if (settled?.id === id) {
    const { decision, approver, note, decidedAt } = settled;
    const end = { approver, note, at: decidedAt };
    if (decision === 'reject') return { kind: 'rejected', ...end };
    const { outcome } = ended;
    const { edit, heldAgainAs } = settled;
    return {
      kind: 'approved',
      ...end,
      ...(edit === undefined ? {} : { changes: edit.changes }),
      ...(heldAgainAs === undefined ? {} : { isHeldAgain: true }),
      ...(outcome === undefined ? {} : { outcome }),
    };
  }
  const isToldToModel = onTimeout === 'tool_result' && state === 'working' && at >= expiresAt;
  if (failure?.kind === 'timedOut' || isToldToModel) return { kind: 'timedOut', at };
  if (failure?.kind === 'abandoned') {
    const isRestart = !failure.text.includes('caller disconnected');
    return { kind: 'abandoned', reason: isRestart ? 'service_restart' : 'caller_disconnected', at };
  }
  if (state === 'canceled') {
    return { kind: 'canceled', reason: (text ?? '').replace(/^canceled: /, ''), at };
  }
  return { kind: 'canceled', reason: failure?.text ?? 'the task continued without a decision', at };
}

function requestOf(
  target: string,
  { taskId, deferral, requester, stage }: AskedRecord,
): ApprovalRequest {
  return {
    taskId,
    deferralId: deferral.id,
    tool: deferral.tool,
    // The store finds the arguments again in the context that follows them.
    ...(deferral.shown === undefined ? {} : { args: deferral.shown }),
    context: deferral.context,
    argsSha256: deferral.argsSha256,
    requester: callerName(requester),
    ...(isOperator(requester) ? { isOperators: true } : {}),
    ...(deferral.messages === undefined ? {} : { messages: deferral.messages }),
    ...(deferral.edits === undefined ? {} : { edits: deferral.edits }),
    ...(deferral.repeats === undefined ? {} : { repeats: deferral.repeats }),
    ...(deferral.limits === undefined ? {} : { limits: deferral.limits }),
    ...(deferral.first === undefined ? {} : { first: deferral.first }),
    ...(deferral.requests === undefined ? {} : { requests: deferral.requests }),
    target,
    approvers: deferral.approvers,
    quorum: deferral.quorum,
    ...onlyOptions(deferral),
    approvals: deferral.approvals,
    stage,
    timeout: deferral.timeout,
    requestedAt: deferral.requestedAt,
    expiresAt: deferral.expiresAt,
  };
}
