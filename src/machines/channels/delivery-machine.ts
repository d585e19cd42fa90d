import { assign, type DoneActorEvent, fromPromise, setup } from 'xstate';
import { doubledPause, longestRetryAfter } from '../back-off.ts';
import { unfilledPort } from '../unfilled-port.ts';
import {
  type ApprovalNews,
  type ApprovalNotice,
  isComplete,
  type MessageRef,
  newsOf,
} from './approval-notice.ts';

/** A notice and its version, the number of changes that led to it. */
export interface NoticeVersion {
  version: number;
  notice: ApprovalNotice;
}

/** The message as stored; `ref` and `told` are `null` before the first post. */
export interface DeliveryInput {
  ref: MessageRef | null;
  told: ApprovalNotice | null;
  latest: NoticeVersion;
}

export type DeliveryEvent = { type: 'notice.changed'; latest: NoticeVersion };

/** The reason why an adapter did not send a notice; see DeliveryError for the faults. */
export interface DeliveryFailure {
  kind: 'failed';
  fault: 'later' | 'target' | 'gone' | 'message';
  /** Delay in milliseconds requested by the service; `null` if there is none. */
  retryAfter: number | null;
  reason: string;
  /** True if the adapter itself failed, rather than its service reporting an error. */
  isDefect: boolean;
}

/** The result of a post; the ports never reject. */
export type PostOutcome = { kind: 'posted'; ref: MessageRef } | DeliveryFailure;

/** The result of an update. */
export type UpdateOutcome = { kind: 'updated' } | DeliveryFailure;

export interface UpdateInput {
  ref: MessageRef;
  notice: ApprovalNotice;
  news: ApprovalNews;
}

/** The stored state once a target has received a notice, or can never receive it. */
export interface ToldNotice extends NoticeVersion {
  /** True if there is nothing more to send. */
  isClosed: boolean;
}

export interface DeliveryContext {
  ref: MessageRef | null;
  told: NoticeVersion | null;
  latest: NoticeVersion;
  /** The version being sent. */
  sending: NoticeVersion;
  /** The latest version when the one-hour retry period of an update began. */
  triedSince: number;
  /** Number of consecutive failed attempts. */
  failures: number;
  /** Milliseconds until the next attempt. */
  pause: number;
}

/** Milliseconds for which an update is retried. */
export const longestUpdate = 3_600_000;

const longestPause = 60_000;

/**
 * Returns the delay after a failure in milliseconds: doubled from one second to a minute, or longer if the service
 * requests it.
 */
export function pauseAfter(failures: number, { fault, retryAfter }: DeliveryFailure): number {
  const asked = Math.min(retryAfter ?? 0, longestRetryAfter);
  return Math.max(asked, fault === 'target' ? longestPause : doubledPause(failures, longestPause));
}

type Failed = { event: DoneActorEvent<PostOutcome | UpdateOutcome> };
type Now = { context: DeliveryContext };

const failureIn = ({ event }: Failed) => failureOf(event.output);

const notTaken = { type: 'noteFailure', params: failureIn } as const;

const nothingMore = {
  type: 'keepTold',
  params: ({ context }: Now) => closing(context.latest),
} as const;

const holding = (which: 'latest' | 'sending') =>
  [
    { type: 'keepTold', params: ({ context }: Now) => telling(context[which]) },
    { type: 'holdTold', params: ({ context }: Now) => context[which] },
  ] as const;

const triedAgain = [notTaken, { type: 'countFailure', params: failureIn }] as const;

/**
 * One message that asks one target for one release, from its post to the report of the outcome. It is posted once. Each
 * update contains the latest state at the time of sending, and nothing is sent after the
 * outcome, which for an approved call is that of the call.
 */
export const deliveryMachine = setup({
  types: {
    input: {} as DeliveryInput,
    context: {} as DeliveryContext,
    events: {} as DeliveryEvent,
    tags: {} as 'sending' | 'resting',
  },
  actors: {
    post: fromPromise<PostOutcome, { notice: ApprovalNotice }>(unfilledPort),
    update: fromPromise<UpdateOutcome, UpdateInput>(unfilledPort),
  },
  actions: {
    takeIn: assign((_, latest: NoticeVersion) => ({ latest })),
    begin: assign(({ context }) => ({ sending: context.latest })),
    holdRef: assign(({ context }, ref: MessageRef) => ({
      ref,
      told: context.sending,
      failures: 0,
    })),
    letGo: assign({ ref: null, told: null }),
    holdTold: assign((_, told: NoticeVersion) => ({ told, failures: 0 })),
    startHour: assign(({ context }) => ({ triedSince: context.latest.version })),
    countFailure: assign(({ context }, failure: DeliveryFailure) => {
      const failures = context.failures + 1;
      return { failures, pause: pauseAfter(failures, failure) };
    }),
    /** Port: stores the location and content of the message. */
    keepRef: (_, _kept: { ref: MessageRef; told: ToldNotice }) => undefined,
    /** Port: stores the content of the message, or that nothing more will be sent. */
    keepTold: (_, _told: ToldNotice) => undefined,
    /** Port: reports a failed attempt. */
    noteFailure: (_, _failure: DeliveryFailure) => undefined,
    /** Port: reports that a message will not be updated any more. */
    noteGivenUp: (_, _notice: ApprovalNotice) => undefined,
  },
  guards: {
    isPosted: ({ context }) => context.ref !== null,
    isOver: ({ context }) => context.latest.notice.outcome !== null,
    isNewer: ({ context }, { version }: NoticeVersion) => version > context.latest.version,
    isDelivered: (_, { kind }: PostOutcome | UpdateOutcome) => kind !== 'failed',
    isImpossible: (_, outcome: PostOutcome | UpdateOutcome) =>
      outcome.kind === 'failed' && ['gone', 'message'].includes(outcome.fault),
    /** A deleted message matters only while the call waits, because then no approver could decide. */
    isGone: ({ context }, outcome: PostOutcome | UpdateOutcome) =>
      outcome.kind === 'failed' &&
      outcome.fault === 'gone' &&
      context.latest.notice.outcome === null,
    hasToldEnd: ({ context: { told } }) => told !== null && isComplete(told.notice),
    hasNews: ({ context: { told, latest } }) => newsBetween(told, latest) !== null,
    isBehind: ({ context: { told, latest } }) => told !== null && told.version < latest.version,
    hasChangedSince: ({ context }) => context.latest.version > context.triedSince,
  },
  delays: {
    pause: ({ context }) => context.pause,
    hour: longestUpdate,
  },
}).createMachine({
  id: 'approval-delivery',
  description:
    'One approval message at one target. It is posted with back-off until it is accepted or the wait ends, and is then kept up to date: reminders, counted approvals, outcome. A message deleted during the wait is posted again. A message that cannot be updated within an hour is given up. It starts again from what was kept, so a post that was taken and not kept is the one thing that may be sent twice.',
  context: ({ input: { ref, told, latest } }) => ({
    ref,
    told: told === null ? null : { version: 0, notice: told },
    latest,
    sending: latest,
    triedSince: latest.version,
    failures: 0,
    pause: 0,
  }),
  initial: 'takenUp',
  on: {
    'notice.changed': {
      guard: { type: 'isNewer', params: ({ event }) => event.latest },
      actions: { type: 'takeIn', params: ({ event }) => event.latest },
    },
  },
  states: {
    takenUp: {
      description: 'The stored state decides where to start.',
      always: [
        { guard: 'isPosted', target: 'posted' },
        { guard: 'isOver', target: 'closed', actions: nothingMore },
        { target: 'posting' },
      ],
    },
    posting: {
      description: 'The message is being posted, for the first time or again.',
      initial: 'sending',
      states: {
        sending: {
          description: 'The newest notice is under way.',
          tags: 'sending',
          entry: 'begin',
          invoke: {
            src: 'post',
            input: ({ context }) => ({ notice: context.sending.notice }),
            onDone: [
              {
                guard: { type: 'isDelivered', params: ({ event }) => event.output },
                target: '#approval-delivery.posted',
                actions: [
                  {
                    type: 'keepRef',
                    params: ({ context, event }) => ({
                      ref: refOf(event.output),
                      told: telling(context.sending),
                    }),
                  },
                  { type: 'holdRef', params: ({ event }) => refOf(event.output) },
                ],
              },
              {
                guard: { type: 'isImpossible', params: ({ event }) => event.output },
                target: '#approval-delivery.closed',
                actions: [notTaken, nothingMore],
              },
              { target: 'resting', actions: triedAgain },
            ],
          },
        },
        resting: {
          description: 'The adapter rejected it; the latest version is posted after a pause.',
          tags: 'resting',
          always: { guard: 'isOver', target: '#approval-delivery.closed', actions: nothingMore },
          after: { pause: 'sending' },
        },
      },
    },
    posted: {
      description: 'The message is posted and up to date.',
      always: [
        { guard: 'hasToldEnd', target: 'closed' },
        { guard: 'hasNews', target: 'updating' },
        { guard: 'isBehind', actions: holding('latest') },
      ],
    },
    updating: {
      description: 'The message is being updated.',
      entry: 'startHour',
      initial: 'sending',
      after: {
        hour: [
          { guard: 'hasChangedSince', target: 'updating', reenter: true },
          {
            target: 'posted',
            actions: [
              { type: 'noteGivenUp', params: ({ context }) => context.latest.notice },
              ...holding('latest'),
            ],
          },
        ],
      },
      states: {
        sending: {
          description: 'The newest notice is under way.',
          tags: 'sending',
          entry: 'begin',
          invoke: {
            src: 'update',
            input: ({ context }) => updateOf(context),
            onDone: [
              {
                guard: { type: 'isDelivered', params: ({ event }) => event.output },
                target: '#approval-delivery.posted',
                actions: holding('sending'),
              },
              {
                guard: { type: 'isGone', params: ({ event }) => event.output },
                target: '#approval-delivery.posting',
                actions: [notTaken, 'letGo'],
              },
              {
                guard: { type: 'isImpossible', params: ({ event }) => event.output },
                target: '#approval-delivery.posted',
                actions: [notTaken, ...holding('sending')],
              },
              { target: 'resting', actions: triedAgain },
            ],
          },
        },
        resting: {
          description: 'The adapter rejected it; the latest version is sent after a pause.',
          tags: 'resting',
          after: { pause: 'sending' },
        },
      },
    },
    closed: {
      description:
        'The target has the outcome, with that of an approved call, or was never notified.',
      type: 'final',
    },
  },
});

function newsBetween(told: NoticeVersion | null, latest: NoticeVersion): ApprovalNews | null {
  if (told !== null) return newsOf(told.notice, latest.notice);
  return latest.notice.outcome === null ? 'changed' : 'ended';
}

function telling({ version, notice }: NoticeVersion): ToldNotice {
  return { version, notice, isClosed: isComplete(notice) };
}

function closing({ version, notice }: NoticeVersion): ToldNotice {
  return { version, notice, isClosed: true };
}

function updateOf({ ref, told, sending }: DeliveryContext): UpdateInput {
  if (ref === null) throw new Error('there is no message to update');
  const news = newsBetween(told, sending) ?? 'changed';
  return { ref, notice: sending.notice, news };
}

function refOf(outcome: PostOutcome): MessageRef {
  if (outcome.kind !== 'posted') throw new Error('nothing was posted');
  return outcome.ref;
}

function failureOf(outcome: PostOutcome | UpdateOutcome): DeliveryFailure {
  if (outcome.kind !== 'failed') throw new Error('the notice was taken');
  return outcome;
}
