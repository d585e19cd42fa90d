import type { AbandonReason } from '../domain/facts.ts';
import type { DecisionAttempt } from '../governance/approvers.ts';
import { answerCounted, answerMispinned, type ProposedEdit } from '../governance/decision.ts';
import type { Ruling } from '../governance/ruling.ts';
import * as factOf from './fact-of.ts';
import * as failureOf from './failure-of.ts';
import { factInRun } from './granted-hold.ts';
import {
  fromAttempt,
  fromContext,
  fromOutput,
  fromTime,
  type On,
  withAttempt,
  withOutput,
  withReason,
  withTime,
} from './params-from.ts';
import * as recordOf from './record-of.ts';
import { pendingDeferral, type TaskContext } from './task-input.ts';

type Screened = On<'prompt.screened'>;

/** The message itself is denied. */
export const promptRefused = [
  { type: 'note', params: ({ event }: Screened) => factOf.messageRefused(event.refusal) },
  {
    type: 'keepRecord',
    params: ({ event }: Screened) => recordOf.prompt(event.refusal, event.took),
  },
  { type: 'fail', params: ({ event }: Screened) => failureOf.ofPrompt(event.refusal) },
] as const;

/** The calls that the run begins with are accepted. */
export const whenAccepted = withOutput('keepAccepted');

const noted = fromOutput('note', factOf.modelCalled);
const heard = [noted, withOutput('spendTurn')] as const;

/** The model turn has ended. */
export const whenThought = {
  failed: [...heard, fromOutput('fail', failureOf.ofModel)],
  overspent: [...heard, fromContext('fail', failureOf.overspent)],
  wantsTools: [noted, withOutput('keepCalls')],
  answered: [noted, withOutput('keepAnswer')],
} as const;

const ruled = [
  fromOutput('note', ({ run }, { facts }: Ruling) => facts.map((fact) => factInRun(run, fact))),
  withOutput('keepRuling'),
] as const;

/** Governance has decided on a call. */
export const whenRuled = {
  answered: [...ruled, withOutput('keepAnswered')],
  refused: [...ruled, fromOutput('fail', failureOf.ofRuling)],
  held: ruled,
  granted: [...ruled, 'grantHold'],
  allowed: ruled,
} as const;

const notedAs = (type: 'deferral.decided' | 'deferral.refused') =>
  fromAttempt('note', (context, attempt, edit) => factOf.decision(type, context, attempt, edit));

const answered = (kind: 'resolved' | 'recorded') =>
  fromAttempt('answer', (context, attempt, edit) =>
    answerCounted(kind, pendingDeferral(context), attempt, edit),
  );

const settled = [
  notedAs('deferral.decided'),
  answered('resolved'),
  withAttempt('settleDeferral'),
] as const;

const tooLate = [
  fromAttempt('note', (context, { at }) => factOf.timedOut(context, at)),
  { type: 'answer', params: { kind: 'notPending' } },
] as const;

/** A decision attempt for the held call. */
export const whenDecided = {
  tooLateForModel: [
    ...tooLate,
    { type: 'keepTimeout', params: ({ event }: On<'deferral.decide'>) => event.attempt.at },
  ],
  tooLate: [...tooLate, fromContext('fail', failureOf.timedOut)],
  mispinned: fromAttempt('answer', answerNotMeant),
  refused: [notedAs('deferral.refused'), { type: 'answer', params: { kind: 'forbidden' } }],
  unreasoned: fromAttempt(
    'answer',
    (_, { verb: decision }) => ({ kind: 'noReason', decision }) as const,
  ),
  unconfirmed: { type: 'answer', params: { kind: 'noPasskey' } },
  notEditable: { type: 'answer', params: { kind: 'notEditable' } },
  unfit: fromAttempt('answer', (_, _attempt, edit) => answerUnfit(edit)),
  edited: [notedAs('deferral.decided'), answered('resolved'), withAttempt('editCall')],
  rejectedForModel: [
    ...settled,
    { type: 'keepRejection', params: ({ event }: On<'deferral.decide'>) => event.attempt },
  ],
  rejected: [...settled, fromContext('fail', failureOf.rejected)],
  counted: [notedAs('deferral.decided'), answered('recorded'), withAttempt('countApproval')],
  approved: settled,
  granted: [...settled, 'grantHold'],
} as const;

type Said = On<'message.received'>;

/** A message arrives while a call is held. */
export const whenTold = {
  refused: [
    { type: 'note', params: ({ event }: Said) => factOf.messageRefused(event.refusal) },
    {
      type: 'answerMessage',
      params: ({ event }: Said) => ({ kind: 'refused', text: event.refusal?.text ?? '' }) as const,
    },
  ],
  full: { type: 'answerMessage', params: { kind: 'full' } },
  kept: [
    {
      type: 'note',
      params: ({ event }: Said) => factOf.messageReceived(event.message, event.sender),
    },
    { type: 'answerMessage', params: { kind: 'kept' } },
    { type: 'keepMessage', params: ({ event }: Said) => event },
  ],
} as const;

/** The caller requests the held call again. */
export const whenRepeated = ['countRequest', fromContext('note', factOf.callRepeated)] as const;

const abandoned = (reason: AbandonReason) =>
  fromTime('note', (context, at) => factOf.abandoned(context, reason, at));

const given = (reason: Exclude<AbandonReason, 'canceled' | 'policy_changed'>) =>
  [
    abandoned(reason),
    fromContext('fail', (context) => failureOf.abandoned(context, reason)),
  ] as const;

/** A deadline of the wait has been reached. */
export const whenDue = {
  reminded: fromTime('note', factOf.reminded),
  escalated: fromTime('note', factOf.escalated),
  escalatedFurther: ['escalateFurther', fromTime('note', factOf.escalated)],
} as const;

/** The wait ends without a decision. */
export const whenEnded = {
  timedOutForModel: [fromTime('note', factOf.timedOut), withTime('keepTimeout')],
  timedOut: [fromTime('note', factOf.timedOut), fromContext('fail', failureOf.timedOut)],
  callerLeft: given('caller_disconnected'),
  restarted: given('service_restart'),
  canceled: [abandoned('canceled'), withReason('callOff')],
  ruledAgain: [abandoned('policy_changed'), withTime('ruleAgain')],
} as const;

function answerNotMeant(context: TaskContext, attempt: DecisionAttempt) {
  return answerMispinned(pendingDeferral(context), attempt) ?? ({ kind: 'notPending' } as const);
}

function answerUnfit(edit: ProposedEdit | null) {
  return { kind: 'unfit', text: edit?.fault ?? '' } as const;
}
