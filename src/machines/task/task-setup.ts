import { assign, emit, fromPromise, raise, setup } from 'xstate';
import type { TaskFact } from '../domain/facts.ts';
import { governanceFailed, type Refusal } from '../domain/finding.ts';
import type {
  DecisionRecord,
  Deferral,
  DeferralStage,
  Failure,
  FollowUp,
  HeldMessage,
  Message,
  RemoteTask,
  TaskState,
  WaitElsewhere,
} from '../domain/task.ts';
import { type DecisionAttempt, isRefused } from '../governance/approvers.ts';
import {
  answerMispinned,
  type DecisionAnswer,
  isEdit,
  isShortOfQuorum,
  lacksReason,
  mayNotEdit,
  settle,
  withApproval,
} from '../governance/decision.ts';
import { escalatedFurther, nextEscalation } from '../governance/defer-policy.ts';
import { lacksPasskey } from '../governance/passkey.ts';
import type { Ruling } from '../governance/ruling.ts';
import { toolCallMachine } from '../governance/tool-call-machine.ts';
import { unfilledPort } from '../unfilled-port.ts';
import { callOutcomeOf, withCallOutcome, withDecision } from './decided-calls.ts';
import { settledAgain, withEdit } from './edited-call.ts';
import * as failureOf from './failure-of.ts';
import { followUpOf, isFull, speakersIn, withMessage } from './follow-up.ts';
import { deferralOf, grantHold } from './granted-hold.ts';
import { limitReached, spendTime, spendTurn } from './limits.ts';
import type { Trial } from './params-from.ts';
import { withOutcome, withStart } from './ran-calls.ts';
import * as recordOf from './record-of.ts';
import { filesOf, withRoomFor } from './result-files.ts';
import type {
  AcceptedCalls,
  AcceptInput,
  MessageAnswer,
  MintInput,
  MintOutcome,
  RunToolInput,
  StartStanding,
  TaskEmitted,
  TaskEvent,
  ThinkInput,
  Thought,
  ToolOutcome,
} from './task-events.ts';
import {
  currentCall,
  endCall,
  extrasIn,
  pendingDeferral,
  type TaskContext,
  type TaskInput,
} from './task-input.ts';
import { failedTurnsAtEnd, withTurn } from './told-turns.ts';

/** Setup of the task chart: its ports (unfilled here), actions and guards. */
export const taskSetup = setup({
  types: {
    input: {} as TaskInput,
    context: {} as TaskContext,
    events: {} as TaskEvent,
    emitted: {} as TaskEmitted,
    tags: {} as TaskState | DeferralStage | 'saving' | 'final',
  },
  actors: {
    accept: fromPromise<AcceptedCalls, AcceptInput>(unfilledPort),
    think: fromPromise<Thought, ThinkInput>(unfilledPort),
    govern: toolCallMachine,
    mint: fromPromise<MintOutcome, MintInput>(unfilledPort),
    runTool: fromPromise<ToolOutcome, RunToolInput>(unfilledPort),
  },
  actions: {
    /** Port: records facts together with the state that they lead to. */
    note: (_, _facts: TaskFact | readonly TaskFact[]) => undefined,
    /** Port: reports in `prompt.screened` whether the model may receive the message. Unfilled, it may not. */
    screenPrompt: raise({
      type: 'prompt.screened',
      refusal: governanceFailed('the message was not screened'),
      took: 0,
    }),
    /** Port: discards a call's credentials, used or not. */
    dropCredential: (_, _callId: string) => undefined,
    answer: emit((_, answer: DecisionAnswer) => ({ type: 'decision.answered', answer }) as const),
    answerMessage: emit(
      (_, answer: MessageAnswer) => ({ type: 'message.answered', answer }) as const,
    ),
    keepMessage: assign(
      (
        { context },
        { message, sender, shown }: Pick<FollowUp, 'message' | 'sender'> & { shown?: HeldMessage },
      ) => ({
        followUps: [...context.followUps, followUpOf(context, message, sender)],
        deferral: withMessage(pendingDeferral(context), shown),
      }),
    ),
    countRequest: assign(({ context }) => {
      const deferral = pendingDeferral(context);
      return { deferral: { ...deferral, requests: (deferral.requests ?? 1) + 1 } };
    }),
    markLinkShown: assign(({ context }) => ({
      deferral: { ...pendingDeferral(context), isLinkShown: true as const },
    })),
    escalateFurther: assign(({ context }) => ({
      deferral: escalatedFurther(pendingDeferral(context)),
    })),
    fail: assign(({ context }, failure: Failure) => ({
      ...{ failure, pending: [], deferral: null },
      ...withoutWait(context),
    })),
    takeTurn: assign(({ context: { spent } }) => ({ spent: { ...spent, turns: spent.turns + 1 } })),
    spendTurn: assign(({ context }, thought: Thought) => ({
      spent: spendTurn(context.spent, thought),
    })),
    spendTime: assign(({ context }, { duration }: Pick<Thought, 'duration'>) => ({
      spent: spendTime(context.spent, duration),
    })),
    keepAccepted: assign(({ context }, { calls: pending, at: now, duration }: AcceptedCalls) => {
      const { calls: _, ...run } = context.run;
      return { run, pending, now, spent: spendTime(context.spent, duration) };
    }),
    keepCalls: assign(({ context }, thought: Thought) => ({
      spent: spendTurn(context.spent, thought),
      pending: thought.outcome.kind === 'said' ? thought.outcome.calls : [],
      said: withTurn(context, thought),
      now: thought.at,
    })),
    keepAnswer: assign(({ context: { exchanges, spent } }, thought: Thought) => {
      const { outcome } = thought;
      return {
        spent: spendTurn(spent, thought),
        answer: [
          { kind: 'text', text: outcome.kind === 'said' ? outcome.text : '' } as const,
          ...filesOf(exchanges),
        ],
        ...(outcome.kind === 'said' && outcome.cut !== undefined ? { cut: outcome.cut } : {}),
      };
    }),
    answerWithResult: assign(({ context }) => ({
      answer: [{ kind: 'text', text: context.exchanges.at(-1)?.result ?? '' } as const],
    })),
    keepRuling: assign(({ context }, ruling: Ruling) => ({
      records: [...context.records, ...ruling.records],
      spent: spendTime(context.spent, sumOf(ruling.records)),
      scores: ruling.score === null ? context.scores : [...context.scores, ruling.score],
      ...('call' in ruling
        ? {
            pending: [ruling.call, ...context.pending.slice(1)],
            credential: ruling.credential,
          }
        : {}),
      ...(ruling.kind === 'defer'
        ? {
            deferral: deferralOf(context.run, ruling.deferral),
            settled: settledAgain(context, ruling.deferral),
            held: null,
            run: withCallOutcome(context.run, currentCall(context).id, { kind: 'neverRan' }),
          }
        : {}),
    })),
    grantHold: assign(({ context }) => grantHold(context)),
    keepRecord: assign(({ context }, record: DecisionRecord) => ({
      records: [...context.records, record],
    })),
    keepStart: assign(({ context }, at: number) => ({
      startedAt: at,
      run: withStart(context, currentCall(context), at),
    })),
    keepOutcome: assign(({ context }, outcome: ToolOutcome) => withEnd(context, outcome)),
    keepRemote: assign(({ context }, remote: RemoteTask) => ({
      pending: [{ ...currentCall(context), remote }, ...context.pending.slice(1)],
    })),
    keepWait: assign((_, waits: WaitElsewhere | null) => ({ waits })),
    keepResult: assign(({ context: before }, outcome: ToolOutcome) => {
      const { at, duration } = outcome;
      const known = {
        ...withEnd(before, outcome),
        ...withoutWait(before),
        spent: spendTime(before.spent, duration),
      };
      const context = { ...before, ...known };
      if (outcome.kind !== 'returned') {
        return { ...known, ...endCall(context, { result: outcome.error, failed: true, at }) };
      }
      const { structured, ...files } = extrasIn(outcome);
      const extras =
        context.run.hasModel || structured === undefined ? files : { structured, ...files };
      const exchanges = [...withRoomFor(context.exchanges, files)];
      const ended = endCall({ ...context, exchanges }, { result: outcome.result, ...extras, at });
      return { ...known, ...ended };
    }),
    keepAnswered: assign(({ context }, ruling: Ruling) => {
      const end =
        ruling.kind === 'joined'
          ? { result: ruling.result }
          : { result: failureOf.ofRuling(context, ruling).text, failed: true as const };
      return {
        ...endCall(context, { ...end, at: context.now }),
        run: withCallOutcome(context.run, currentCall(context).id, { kind: 'neverRan' }),
      };
    }),
    keepRejection: assign(({ context }, { at }: DecisionAttempt) =>
      endCall(context, { result: failureOf.rejected(context).text, at }),
    ),
    keepTimeout: assign(({ context }, at: number) => ({
      ...endCall(context, { result: failureOf.timedOut(context).text, at }),
      deferral: null,
    })),
    countApproval: assign(({ context }, { attempt, deferral }: Trial) => {
      const { approvals } = withApproval(deferral, attempt);
      return { deferral: { ...pendingDeferral(context), approvals } };
    }),
    settleDeferral: assign(({ context }, { attempt, deferral }: Trial) => {
      const { approvals } = withApproval(deferral, attempt);
      const released = {
        deferral: { ...pendingDeferral(context), approvals },
        isReleased: true,
      };
      const held = attempt.verb === 'approve' ? released : null;
      const run = withDecision(context.run, deferral, attempt);
      return { settled: settle(deferral, attempt), held, deferral: null, now: attempt.at, run };
    }),
    editCall: assign(({ context }, { attempt, deferral, edit }: Trial) =>
      edit === null ? {} : withEdit(context, { attempt, deferral, edit }),
    ),
    ruleAgain: assign(({ context }, at: number) => {
      const held = { deferral: pendingDeferral(context), isReleased: false };
      return { held, deferral: null, now: at };
    }),
    callOff: assign(({ context }, cancelReason: string) => ({
      ...{ cancelReason, deferral: null, pending: [] },
      ...withoutWait(context),
    })),
  },
  guards: {
    beginsWithCalls: ({ context }) => context.run.calls !== undefined,
    hasNoModel: ({ context }) => !context.run.hasModel,
    modelFailed: (_, { outcome }: Thought) => outcome.kind === 'failed',
    wantsTools: (_, { outcome }: Thought) => outcome.kind === 'said' && outcome.calls.length > 0,
    isLastWithoutModel: ({ context: { run, pending, spent } }) =>
      !run.hasModel && pending.length === 1 && limitReached(spent, run.limits) === null,
    hasMoreCalls: ({ context }) => context.pending.length > 0,
    hasTurnsLeft: ({ context: { spent, run } }) => spent.turns < run.limits.turns,
    failsOnAndOn: ({ context }) => failedTurnsAtEnd(context) >= context.run.limits.failedTurns,
    hasSpentUp: ({ context: { spent, run } }) => limitReached(spent, run.limits) !== null,
    wantsTooMuch: ({ context: { spent, run } }, thought: Thought) =>
      thought.outcome.kind === 'said' &&
      thought.outcome.calls.length > 0 &&
      limitReached(spendTurn(spent, thought), run.limits) !== null,
    isOutOfTime: ({ context: { spent, run } }, busy: number) =>
      limitReached(spent, run.limits, busy) === 'time',
    /** The call does not run, and the model receives why, or the result of an earlier call. */
    isAnswered: ({ context }, { kind }: Ruling) =>
      kind === 'joined' || (kind === 'misfit' && context.run.onToolError === 'return'),
    isRuledOut: (_, { kind }: Ruling) => kind === 'deny' || kind === 'misfit' || kind === 'stepUp',
    needsApproval: (_, { kind }: Ruling) => kind === 'defer',
    runsElsewhere: ({ context }) => context.run.hold !== undefined,
    hasStarted: ({ context }) => context.startedAt !== null,
    outcomeIsUnknown: (_, standing: StartStanding) => standing === 'unknown',
    isMessageRefused: (_, refusal: Refusal | null) => refusal !== null,
    hasNoRoomFor: ({ context }, message: Message) => isFull(context, message),
    needsCredential: ({ context }) => context.credential !== null,
    isGivenCredential: (_, ruling: Ruling) => 'call' in ruling && ruling.credential !== null,
    needsCredentialAgain: ({ context }, standing: StartStanding) =>
      standing === 'repeatable' && context.credential !== null,
    mintFailed: (_, { kind }: MintOutcome) => kind === 'failed',
    isErrorForModel: ({ context }, { kind }: ToolOutcome) =>
      kind === 'failed' && context.run.onToolError === 'return',
    toolFailed: (_, { kind }: ToolOutcome) => kind !== 'returned',
    isTimeUp: ({ context }, at: number) => isOver(pendingDeferral(context), at),
    isTimeUpForModel: ({ context }, at: number) =>
      isOver(pendingDeferral(context), at) && isTimeoutForModel(pendingDeferral(context)),
    reminderIsDue: ({ context }, at: number) =>
      isDue(pendingDeferral(context).remindAt, at) && at < pendingDeferral(context).expiresAt,
    escalationIsDue: ({ context }, at: number) =>
      isDue(pendingDeferral(context).escalateAt, at) && at < pendingDeferral(context).expiresAt,
    furtherEscalationIsDue: ({ context }, at: number) => {
      const deferral = pendingDeferral(context);
      const next = nextEscalation(deferral);
      return next !== null && deferral.requestedAt + next.after <= at && at < deferral.expiresAt;
    },
    cameTooLate: (_, { attempt, deferral }: Trial) => isOver(deferral, attempt.at),
    cameTooLateForModel: (_, { attempt, deferral }: Trial) =>
      isOver(deferral, attempt.at) && isTimeoutForModel(deferral),
    isMispinned: (_, { attempt, deferral }: Trial) => answerMispinned(deferral, attempt) !== null,
    isRefused: ({ context }, { attempt, deferral }: Trial) =>
      isRefused(deferral, attempt, context.run.requester, speakersIn(context)),
    lacksReason: (_, { attempt, deferral }: Trial) => lacksReason(deferral, attempt),
    lacksPasskey: (_, { attempt, deferral, edit }: Trial) => lacksPasskey(deferral, attempt, edit),
    mayNotEdit: (_, { attempt, deferral, edit }: Trial) => mayNotEdit(deferral, attempt, edit),
    isUnfit: (_, { edit }: Trial) => edit !== null && edit.fault !== null,
    isEdit: (_, { deferral, edit }: Trial) => isEdit(deferral, edit),
    isRejection: (_, { attempt }: Trial) => attempt.verb === 'reject',
    isRejectionForModel: (_, { attempt, deferral }: Trial) =>
      attempt.verb === 'reject' && deferral.onReject === 'tool_result',
    isShortOfQuorum: (_, { attempt, deferral }: Trial) => isShortOfQuorum(deferral, attempt),
    mustBeRuledAgain: (_, { isRuled }: Trial) => !isRuled(),
  },
});

function sumOf(records: readonly DecisionRecord[]): number {
  return records.reduce((sum, { duration }) => sum + duration, 0);
}

/** Returns the context changes at the end of the current call's tool. */
function withEnd(context: TaskContext, outcome: ToolOutcome) {
  const { run, records } = context;
  const call = currentCall(context);
  return {
    records: [...records, recordOf.output(context, outcome)],
    run: withCallOutcome(withOutcome(run, call, outcome), call.id, callOutcomeOf(outcome)),
  };
}

/** A call that has ended does not wait at another program. */
function withoutWait({ waits }: Pick<TaskContext, 'waits'>): { waits?: null } {
  return waits === undefined ? {} : { waits: null };
}

function isOver({ expiresAt }: Deferral, at: number): boolean {
  return at >= expiresAt;
}

function isTimeoutForModel({ onTimeout }: Deferral): boolean {
  return onTimeout === 'tool_result';
}

function isDue(moment: number | null, at: number): boolean {
  return moment !== null && at >= moment;
}
