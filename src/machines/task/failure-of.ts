import { formatDuration } from '../duration.ts';
import type { Refusal } from '../governance/finding.ts';
import type { Ruling } from '../governance/ruling.ts';
import { cutToRunes } from '../text.ts';
import type { AbandonReason } from './facts.ts';
import { limitReached, tokensOf } from './limits.ts';
import { ranInRun } from './ran-calls.ts';
import type { Exchange, Failure, ToolCall } from './task.ts';
import type { MintOutcome, Thought, ToolOutcome } from './task-events.ts';
import { currentCall, pendingDeferral, type TaskContext } from './task-input.ts';

/** The text of a task that was at work when the daemon went down (docs/contract/task.md). */
export const interrupted: Failure = { kind: 'interrupted', text: 'interrupted by service restart' };

/** The store was older than its log, which alone says what became of the task (docs/contract/audit.md). */
export const outcomeInLog: Failure = {
  kind: 'interrupted',
  text: 'interrupted: the outcome stands in the audit log alone',
};

/** The model went on asking for tools. */
export function tooManyTurns({ run, exchanges }: TaskContext): Failure {
  const { turns } = run.limits;
  const took = turns === 1 ? '1 model turn' : `${turns} model turns`;
  return {
    kind: 'turnLimit',
    text: `the run was ended after ${took} without an answer${sameCallsAtEnd(exchanges)}; give the agent a narrower task, or raise model.max_turns`,
  };
}

/** Turn after turn came to nothing but errors; the last of them is repeated as far as it fits. */
export function tooManyErrors({ run, exchanges }: TaskContext): Failure {
  const { failedTurns } = run.limits;
  const took = failedTurns === 1 ? '1 model turn' : `${failedTurns} model turns in a row`;
  const last = cutToRunes(exchanges.at(-1)?.result ?? '', longestError);
  return {
    kind: 'errorLimit',
    text: `the run was ended after ${took} whose calls all failed, the last one with: ${last}`,
  };
}

/** How much of an error the text of a failure repeats, in code points. */
const longestError = 500;

/** The run has used up its tokens or its time. Throws when it has not. */
export function overspent(context: TaskContext): Failure {
  const { spent, run } = context;
  if (limitReached(spent, run.limits) !== 'tokens') return outOfTime(context);
  return {
    kind: 'tokenLimit',
    text: `the run was ended after ${tokensOf(spent)} tokens, where it may use ${run.limits.tokens}; give the agent a narrower task, or raise model.max_tokens_per_task`,
  };
}

/** The work of the run takes longer than it may. Throws when there is no limit. */
export function outOfTime({ run }: TaskContext): Failure {
  const { time } = run.limits;
  if (time === null) throw new Error('the run has no limit of time');
  return {
    kind: 'timeLimit',
    text: `the run was ended after ${formatDuration(time)} of work; give the agent a narrower task, or raise model.max_time`,
  };
}

/** From how many calls in a row on a model is said to repeat itself. */
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

/** The model could not take its turn; it is said to try again only while no call has run (docs/contract/task.md). */
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

/** Governance refused the call, or the caller must sign in at a higher level. */
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
    return refused === undefined ? denied : { ...denied, isOverLimit: true };
  }
  throw new Error(`the ruling "${ruling.kind}" is no failure`);
}

/** What the caller asked for may not reach the model. */
export function ofPrompt(refusal: Refusal | null): Failure {
  return { kind: 'denied', tool: null, layer: 'prompt', text: refusal?.text ?? '' };
}

/** The credentials of the call could not be made, so it does not run. */
export function ofMint({ tool }: ToolCall, outcome: MintOutcome): Failure {
  const text = outcome.kind === 'failed' ? outcome.error : '';
  return { kind: 'denied', tool, layer: 'credentials', text };
}

/** The tool ran and failed, or what it returned may not be passed on. */
export function ofTool({ tool }: ToolCall, outcome: ToolOutcome): Failure {
  if (outcome.kind === 'withheld') {
    return { kind: 'denied', tool, layer: 'output', text: outcome.error };
  }
  return { kind: 'tool', tool, text: outcome.kind === 'returned' ? '' : outcome.error };
}

/** The call had started before a restart and nobody knows how it ended (docs/contract/task.md). */
export function outcomeUnknown({ tool }: ToolCall): Failure {
  return {
    kind: 'interrupted',
    text: `interrupted by service restart: ${tool} had started and its outcome is unknown`,
  };
}

/** An approver said no (docs/contract/task.md). */
export function rejected({ settled }: TaskContext): Failure {
  if (settled === null) throw new Error('no decision was recorded');
  const { tool, approver, note } = settled;
  const text = `defer: rejected by ${approver}`;
  return { kind: 'rejected', tool, text: note === '' ? text : `${text}: ${note}` };
}

/** Nobody decided in time (docs/contract/task.md). */
export function timedOut(context: TaskContext): Failure {
  const { tool, timeout } = pendingDeferral(context);
  return {
    kind: 'timedOut',
    tool,
    text: `defer: no decision within ${formatDuration(timeout)} (auto-deny)`,
  };
}

/** The wait was given up (docs/contract/task.md, docs/contract/transports.md). */
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

/** What the store has of the task cannot be read any more. */
export const unreadable: Failure = {
  kind: 'internal',
  text: 'the record of this task is damaged; what became of it stands in the audit log alone',
};

/** A defect of ours stopped the chart; the caller is told so in one sentence and the log holds the rest. */
export const crashed: Failure = {
  kind: 'internal',
  text: 'the task failed inside the service; its log says why',
};
