import { markOfCall, markOfDeferral } from '../domain/call-mark.ts';
import type {
  AbandonReason,
  CallEnd,
  CallMark,
  DecisionMethod,
  Heard,
  TaskFact,
} from '../domain/facts.ts';
import type { Refusal } from '../domain/finding.ts';
import { limitEntries } from '../domain/ledger.ts';
import type { FollowUp, Message, ToolCall } from '../domain/task.ts';
import {
  approverName,
  type DecisionAttempt,
  runtimeProvider,
  vouchedBy,
} from '../governance/approvers.ts';
import {
  entitlementOf,
  isEdit,
  noteOf,
  type ProposedEdit,
  withApproval,
} from '../governance/decision.ts';
import { factsOfFindings } from '../governance/facts-of-findings.ts';
import { utf8Size } from '../utf8-size.ts';
import { messageSize } from './bound-history.ts';
import { limitOf } from './limits.ts';
import { callEndOf, type MintOutcome, type Thought, type ToolOutcome } from './task-events.ts';
import { approvedDigest, currentCall, pendingDeferral, type TaskContext } from './task-input.ts';
import { toldBefore } from './told-turns.ts';

/** Reports the model calls of a turn, successful or failed; the last one is the turn's outcome. */
export function modelCalled(context: TaskContext, thought: Thought): TaskFact[] {
  const unsaid = {
    type: 'model.called',
    inputTokens: 0,
    outputTokens: 0,
    heard: { request: null, exchanges: [], followUps: [] },
    said: null,
  } as const;
  const failed = (thought.failedCalls ?? []).map((call) => ({ ...unsaid, ...call }));
  const { compaction } = thought;
  const compacted =
    compaction === undefined ? [] : [{ type: 'context.compacted', ...compaction } as const];
  return [...compacted, ...failed, lastCall(context, thought)];
}

function lastCall(context: TaskContext, thought: Thought): TaskFact {
  const { provider, model, duration, inputTokens, outputTokens, finishReason, outcome } = thought;
  const fact = {
    type: 'model.called',
    provider,
    model,
    duration,
    inputTokens,
    outputTokens,
    ...(finishReason === undefined ? {} : { finishReason }),
    heard: heardBy(context),
  } as const;
  if (outcome.kind === 'failed') {
    const fault = thought.fault === undefined ? {} : { fault: thought.fault };
    return { ...fact, said: null, error: outcome.error, ...fault };
  }
  const { text, calls } = outcome;
  return { ...fact, said: { text, calls } };
}

function heardBy(context: TaskContext): Heard {
  const { run, spent, exchanges, followUps } = context;
  const told = toldBefore(context);
  return {
    request: spent.turns > 1 ? null : run.request,
    exchanges: exchanges.slice(told),
    followUps: followUps.filter(({ after }) => after > told).map(({ message }) => message),
  };
}

/** Reports the start of a run, with its requester. */
export function sessionStarted({ run: { requester, hold } }: TaskContext): TaskFact {
  return { type: 'session.started', requester, ...(hold === undefined ? {} : { hold }) };
}

/** Reports that a run failed, and the limit that ended it, if any. */
export function sessionFailed({ failure }: TaskContext): TaskFact {
  const limit = limitOf(failure);
  return { type: 'session.ended', state: 'failed', ...(limit === undefined ? {} : { limit }) };
}

/** Reports why a run was cancelled. */
export function invocationCancelled({ cancelReason }: TaskContext): TaskFact {
  return { type: 'invocation.cancelled', reason: cancelReason ?? 'external_signal' };
}

/** Reports the rules that denied a message. */
export function messageRefused(refusal: Refusal | null): TaskFact[] {
  return factsOfFindings(null, refusal?.findings ?? []);
}

/** Reports that a message was stored while a call was held. */
export function messageReceived(message: Message, sender: FollowUp['sender']): TaskFact {
  return { type: 'message.received', size: messageSize(message), sender };
}

/** Reports another request for the held call, after it was counted. */
export function callRepeated({ deferral }: TaskContext): TaskFact {
  return { type: 'call.repeated', tool: deferral?.tool ?? '', requests: deferral?.requests ?? 1 };
}

/** Reports the result of issuing the current call's credentials. */
export function credentialMade(context: TaskContext, outcome: MintOutcome): TaskFact {
  const { tool } = currentCall(context);
  const { provider } = outcome;
  return outcome.kind === 'issued'
    ? { type: 'credential.issued', call: markOf(context), tool, provider, ttl: outcome.ttl }
    : { type: 'credential.failed', tool, provider };
}

/** Reports the start of the current call. */
export function toolStarted(context: TaskContext): TaskFact {
  const { tool, args } = currentCall(context);
  const argsSize = utf8Size(JSON.stringify(args));
  return { type: 'tool.started', call: markOf(context), tool, argsSize, args };
}

/** Reports the end of the current call, and the rules that matched its output. */
export function toolEnded(context: TaskContext, outcome: ToolOutcome): TaskFact[] {
  const { tool } = currentCall(context);
  const { rewrites: rules } = outcome;
  return [
    toolEnd(context, outcome),
    ...(outcome.kind === 'barred' ? returned(context) : []),
    ...factsOfFindings(tool, outcome.findings),
    ...(rules.length === 0
      ? []
      : [{ type: 'call.modified', tool, part: 'output', rules } as const]),
  ];
}

function toolEnd(context: TaskContext, outcome: ToolOutcome): TaskFact {
  const { duration } = outcome;
  const end = callEndOf(outcome);
  switch (outcome.kind) {
    case 'returned': {
      const { result, resultSha256 } = outcome;
      const digest = resultSha256 === undefined ? {} : { resultSha256 };
      return { ...endOf(context, duration, end), resultSize: utf8Size(result), result, ...digest };
    }
    case 'failed':
    case 'barred': {
      const { failure = 'failed', error: complaint } = outcome;
      return { ...endOf(context, duration, end), error: failure, complaint };
    }
    case 'withheld':
      return { ...endOf(context, duration, end), error: outcome.error };
  }
}

/**
 * Reports that the current call was cut off, with time and reason; a call that has not started only returns what was
 * reserved for it.
 */
export function toolCutOff(context: TaskContext, at: number, error: string): TaskFact[] {
  const { startedAt } = context;
  if (startedAt === null) return returned(context);
  const duration = startedAt === 0 ? 0 : Math.max(0, at - startedAt);
  return [{ ...endOf(context, duration, 'unknown'), error }];
}

/** Reports that the current call no longer counts for its limits, because it did not run. */
function returned({ pending: [call] }: TaskContext): TaskFact[] {
  return call === undefined ? [] : limitsReturned(markOfCall(call), call);
}

/** Reports the limits for which a call that did not run no longer counts; nothing for a call without any. */
export function limitsReturned(
  call: CallMark,
  { tool, reserved }: Pick<ToolCall, 'tool' | 'reserved'>,
): TaskFact[] {
  const entries = limitEntries(reserved);
  return entries.length === 0 ? [] : [{ type: 'limit.returned', call, tool, entries }];
}

/** Reports that approvers were reminded of the held call. */
export function reminded(context: TaskContext, at: number): TaskFact {
  const { tool, to } = pendingDeferral(context);
  return { type: 'deferral.reminded', tool, to, wait: waited(context, at) };
}

/** Reports that a second target was asked. */
export function escalated(context: TaskContext, at: number): TaskFact {
  const { tool, escalateTo } = pendingDeferral(context);
  return { type: 'deferral.escalated', tool, to: escalateTo ?? '', wait: waited(context, at) };
}

/** Reports a decision that counted, or one refused because of missing authority. */
export function decision(
  type: 'deferral.decided' | 'deferral.refused',
  context: TaskContext,
  attempt: DecisionAttempt,
  edit: ProposedEdit | null = null,
): TaskFact {
  const deferral = pendingDeferral(context);
  const { caller } = attempt;
  const isEdited = type === 'deferral.decided' && isEdit(deferral, edit);
  const isRepeated = attempt.verb === 'approve' && withApproval(deferral, attempt) === deferral;
  return {
    type,
    call: markOfDeferral(deferral),
    tool: deferral.tool,
    decision: attempt.verb,
    approver: approverName(deferral, attempt),
    ...entitlementOf(deferral, attempt),
    note: noteOf(attempt),
    wait: waited(context, attempt.at),
    vouchedBy: vouchedBy(deferral, attempt),
    method: methodOf(attempt),
    ...(isRepeated ? { isRepeated } : {}),
    ...(isEdited ? { editedArgsSha256: edit.argsSha256 } : {}),
    caller: caller && { provider: caller.provider, userId: caller.userId },
    ...(attempt.source === undefined ? {} : { source: attempt.source }),
    ...(attempt.passkey === undefined ? {} : { passkey: attempt.passkey.assertion }),
  };
}

/** Reports that the decision timed out. */
export function timedOut(context: TaskContext, at: number): TaskFact {
  const deferral = pendingDeferral(context);
  const { tool, timeout } = deferral;
  const call = markOfDeferral(deferral);
  return { type: 'deferral.timedOut', call, tool, timeout, wait: waited(context, at) };
}

/** Reports a wait that ended without a decision or a timeout. */
export function abandoned(context: TaskContext, reason: AbandonReason, at: number): TaskFact {
  const deferral = pendingDeferral(context);
  const call = markOfDeferral(deferral);
  const { tool } = deferral;
  return { type: 'deferral.abandoned', call, tool, reason, wait: waited(context, at) };
}

function endOf(context: TaskContext, duration: number, outcome: CallEnd) {
  const { tool, args } = currentCall(context);
  const argsSize = utf8Size(JSON.stringify(args));
  const ended = { type: 'tool.ended', call: markOf(context), tool, outcome } as const;
  return { ...ended, duration, argsSize, resultSize: 0 };
}

function markOf(context: TaskContext): CallMark {
  const { held } = context;
  const call = currentCall(context);
  if (held === null || approvedDigest(context) === null) return markOfCall(call);
  return markOfDeferral(held.deferral, call);
}

function methodOf({ caller, source, signedInAt }: DecisionAttempt): DecisionMethod {
  if (source !== undefined) return 'chat';
  if (caller === null) return 'none';
  if (signedInAt === 'page') return 'oidc';
  if (signedInAt === 'dashboard') return 'dashboard';
  return caller.provider === runtimeProvider ? 'runtime_token' : 'token';
}

function waited(context: TaskContext, at: number): number {
  return Math.max(0, Math.round(at - pendingDeferral(context).requestedAt));
}
