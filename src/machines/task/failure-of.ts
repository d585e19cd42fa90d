import type { AbandonReason } from '../domain/facts.ts';
import type { Refusal } from '../domain/finding.ts';
import type { Exchange, Failure, ToolCall } from '../domain/task.ts';
import { formatDuration } from '../duration.ts';
import type { Ruling } from '../governance/ruling.ts';
import { cutToRunes } from '../text.ts';
import { limitReached, tokensOf } from './limits.ts';
import { ranInRun } from './ran-calls.ts';
import type { MintOutcome, Thought, ToolOutcome } from './task-events.ts';
import { currentCall, pendingDeferral, type TaskContext } from './task-input.ts';

/** The failure of a task that was running when the daemon stopped (docs/contract/task.md). */
export const interrupted: Failure = { kind: 'interrupted', text: 'interrupted by service restart' };

/** The store was older than its log, so only the log has the task's outcome (docs/contract/audit.md). */
export const outcomeInLog: Failure = {
  kind: 'interrupted',
  text: 'interrupted: the outcome is only in the audit log',
};

/** The task was running when the backup of its store was made; its next calls may have run since. */
export const restoredWhileRunning: Failure = {
  kind: 'interrupted',
  text: 'interrupted: the task was running when the backup was made; check what ran since, and send it again',
};

/** The model reached the limit of turns. */
export function tooManyTurns({ run, exchanges }: TaskContext): Failure {
  const { turns } = run.limits;
  const took = turns === 1 ? '1 model turn' : `${turns} model turns`;
  return {
    kind: 'turnLimit',
    text: `the run was ended after ${took} without an answer${sameCallsAtEnd(exchanges)}; give the agent a narrower task, or raise model.max_turns`,
  };
}

/** Consecutive turns produced only errors; the last error is repeated, truncated. */
export function tooManyErrors({ run, exchanges }: TaskContext): Failure {
  const { failedTurns } = run.limits;
  const took = failedTurns === 1 ? '1 model turn' : `${failedTurns} model turns in a row`;
  const last = cutToRunes(exchanges.at(-1)?.result ?? '', longestError);
  return {
    kind: 'errorLimit',
    text: `the run was ended after ${took} whose calls all failed, the last one with: ${last}`,
  };
}

/** Maximum length in code points of an error repeated in a failure's text. */
const longestError = 500;

/** The run has exhausted its tokens or its time. Throws if it has not. */
export function overspent(context: TaskContext): Failure {
  const { spent, run } = context;
  if (limitReached(spent, run.limits) !== 'tokens') return outOfTime(context);
  return {
    kind: 'tokenLimit',
    text: `the run was ended after ${tokensOf(spent)} tokens, where it may use ${run.limits.tokens}; give the agent a narrower task, or raise model.max_tokens_per_task`,
  };
}

/** The run has exceeded its time limit. Throws if there is none. */
export function outOfTime({ run }: TaskContext): Failure {
  const { time } = run.limits;
  if (time === null) throw new Error('the run has no limit of time');
  return {
    kind: 'timeLimit',
    text: `the run was ended after ${formatDuration(time)} of work; give the agent a narrower task, or raise model.max_time`,
  };
}

/** Number of consecutive equal calls from which the message says that the model repeats itself. */
const repetition = 3;

function sameCallsAtEnd(exchanges: readonly Exchange[]): string {
  const last = exchanges.at(-1)?.call;
  if (last === undefined) return '';
  const other = exchanges.findLastIndex(
    ({ call }) => call.tool !== last.tool || call.argsSha256 !== last.argsSha256,
  );
  const times = exchanges.length - 1 - other;
  if (times < repetition) return '';
  return `, and its last ${times} calls were the same one of ${last.tool}`;
}

/** The model turn failed. The message suggests a retry only if no call has run (docs/contract/task.md). */
export function ofModel({ run }: TaskContext, { outcome }: Thought): Failure {
  const text = outcome.kind === 'failed' ? outcome.error : '';
  const ran = ranInRun(run);
  const last = ran.at(-1);
  if (last === undefined) return { kind: 'model', text };
  const others = ran.length === 1 ? '' : ` and ${ran.length - 1} other ${callsAre(ran.length - 1)}`;
  const [what] = text.split(retryAdvice);
  return {
    kind: 'model',
    text: `${last.tool} (call ${last.callId})${others} already ran; then ${what}; check what ran before you send this again`,
  };
}

const retryAdvice = /; (?:try again|ask again|wait, or)/;

function callsAre(count: number): string {
  return count === 1 ? 'call' : 'calls';
}

/** Governance denied the call, or the caller must sign in at a higher level. */
export function ofRuling(context: TaskContext, ruling: Ruling): Failure {
  const { tool, refused } = currentCall(context);
  if (ruling.kind === 'stepUp') {
    const { requiredAcr, text: reason } = ruling;
    const presentedAcr = context.run.requester?.acr ?? null;
    const text = `step-up required for ${tool}: needs acr "${requiredAcr}"; ${reason}`;
    return { kind: 'stepUp', text, tool, requiredAcr, presentedAcr, reason };
  }
  if (ruling.kind === 'deny' || ruling.kind === 'misfit') {
    const denied = { kind: 'denied', text: ruling.text, tool, layer: ruling.layer } as const;
    if (refused !== undefined) return { ...denied, isOverLimit: true };
    const { repeats } = ruling.kind === 'deny' ? ruling : {};
    return repeats === undefined ? denied : { ...denied, repeats };
  }
  throw new Error(`the ruling "${ruling.kind}" is no failure`);
}

/** The caller's message was denied before it reached the model. */
export function ofPrompt(refusal: Refusal | null): Failure {
  return { kind: 'denied', tool: null, layer: 'prompt', text: refusal?.text ?? '' };
}

/** The call's credentials could not be issued, so the call does not run. */
export function ofMint({ tool }: ToolCall, outcome: MintOutcome): Failure {
  const text = outcome.kind === 'failed' ? outcome.error : '';
  return { kind: 'denied', tool, layer: 'credentials', text };
}

/** The tool failed, or its output was blocked. */
export function ofTool({ tool }: ToolCall, outcome: ToolOutcome): Failure {
  if (outcome.kind === 'withheld') {
    return { kind: 'denied', tool, layer: 'output', text: outcome.error };
  }
  return { kind: 'tool', tool, text: outcome.kind === 'returned' ? '' : outcome.error };
}

/** The call started before a restart and its outcome is unknown (docs/contract/task.md). */
export function outcomeUnknown({ tool }: ToolCall): Failure {
  return {
    kind: 'interrupted',
    text: `interrupted by service restart: ${tool} had started and its outcome is unknown`,
  };
}

/** An approver rejected the call (docs/contract/task.md). */
export function rejected({ settled }: TaskContext): Failure {
  if (settled === null) throw new Error('no decision was recorded');
  const { tool, approver, note } = settled;
  const text = `defer: rejected by ${approver}`;
  return { kind: 'rejected', tool, text: note === '' ? text : `${text}: ${note}` };
}

/** The decision timed out (docs/contract/task.md). */
export function timedOut(context: TaskContext): Failure {
  const { tool, timeout } = pendingDeferral(context);
  return {
    kind: 'timedOut',
    tool,
    text: `defer: no decision within ${formatDuration(timeout)} (auto-deny)`,
  };
}

/** The wait was abandoned (docs/contract/task.md, docs/contract/transports.md). */
export function abandoned(
  context: TaskContext,
  reason: Exclude<AbandonReason, 'canceled' | 'policy_changed'>,
): Failure {
  const { tool } = pendingDeferral(context);
  const text = {
    service_restart: 'defer: abandoned by service restart',
    caller_disconnected: 'defer: abandoned, caller disconnected',
  }[reason];
  return { kind: 'abandoned', tool, text };
}

/** The stored task is no longer readable. */
export const unreadable: Failure = {
  kind: 'internal',
  text: 'the record of this task is damaged; its outcome is only in the audit log',
};

/** An unexpected error stopped the chart. The caller receives one sentence; the log has the details. */
export const crashed: Failure = {
  kind: 'internal',
  text: 'the task failed inside the service; its log says why',
};
