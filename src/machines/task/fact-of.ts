import { approverName, type DecisionAttempt } from '../governance/approvers.ts';
import type { Ruling } from '../governance/ruling.ts';
import type { AbandonReason, TaskFact } from './facts.ts';
import type { Thought, ToolOutcome } from './task-events.ts';
import { currentCall, pendingDeferral, type TaskContext } from './task-input.ts';

/** Reports a model turn, whether it said something or failed. */
export function modelCalled(thought: Thought): TaskFact {
  const { provider, model, duration, inputTokens, outputTokens, outcome } = thought;
  const fact = {
    type: 'model.called',
    provider,
    model,
    duration,
    inputTokens,
    outputTokens,
  } as const;
  return outcome.kind === 'failed' ? { ...fact, error: outcome.error } : fact;
}

/** Reports that the caller was asked to sign in again at a higher level. */
export function stepUpRequired(context: TaskContext, ruling: Ruling): TaskFact {
  if (ruling.kind !== 'stepUp') throw new Error(`a ruling of ${ruling.kind} asks for no step-up`);
  return {
    type: 'stepUp.required',
    tool: currentCall(context).tool,
    requiredAcr: ruling.requiredAcr,
    presentedAcr: context.requester?.acr ?? null,
    reason: ruling.text,
  };
}

/** Reports that the current call now starts. */
export function toolStarted(context: TaskContext): TaskFact {
  const { tool, args } = currentCall(context);
  return { type: 'tool.started', tool, argsSize: sizeOf(JSON.stringify(args)) };
}

/** Reports how the current call ended. */
export function toolEnded(context: TaskContext, outcome: ToolOutcome): TaskFact {
  return outcome.kind === 'returned'
    ? endOf(context, outcome.duration, outcome.result)
    : endOf(context, outcome.duration, '', outcome.error);
}

/** Reports that the current call was cut off at a time, with the reason. */
export function toolCutOff(context: TaskContext, at: number, error: string): TaskFact {
  const duration = context.startedAt === 0 ? 0 : Math.max(0, at - context.startedAt);
  return endOf(context, duration, '', error);
}

/** Reports that the task began to wait for a release. */
export function deferralOpened(ruling: Ruling): TaskFact {
  if (ruling.kind !== 'defer') throw new Error(`the ruling "${ruling.kind}" opens no deferral`);
  return { type: 'deferral.opened', deferral: ruling.deferral };
}

/** Reports a decision that counted, or one that was refused for want of authority. */
export function decision(
  type: 'deferral.decided' | 'deferral.refused',
  context: TaskContext,
  attempt: DecisionAttempt,
): TaskFact {
  const deferral = pendingDeferral(context);
  return {
    type,
    tool: deferral.tool,
    decision: attempt.verb,
    approver: approverName(deferral, attempt),
    note: attempt.note,
    wait: waited(context, attempt.at),
  };
}

/** Reports that nobody decided in time. */
export function timedOut(context: TaskContext, at: number): TaskFact {
  const { tool, timeout } = pendingDeferral(context);
  return { type: 'deferral.timedOut', tool, timeout, wait: waited(context, at) };
}

/** Reports that a wait ended without anybody deciding or time running out. */
export function abandoned(context: TaskContext, reason: AbandonReason, at: number): TaskFact {
  const { tool } = pendingDeferral(context);
  return { type: 'deferral.abandoned', tool, reason, wait: waited(context, at) };
}

function endOf(context: TaskContext, duration: number, result: string, error?: string): TaskFact {
  const { tool, args } = currentCall(context);
  const fact = {
    type: 'tool.ended',
    tool,
    duration,
    argsSize: sizeOf(JSON.stringify(args)),
    resultSize: sizeOf(result),
  } as const;
  return error === undefined ? fact : { ...fact, error };
}

function waited(context: TaskContext, at: number): number {
  return Math.max(0, Math.round(at - pendingDeferral(context).requestedAt));
}

/** Bytes of the UTF-8 form, counted without making it. */
function sizeOf(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}
