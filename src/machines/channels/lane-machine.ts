import { assign, setup } from 'xstate';
import { doubledPause, longestRetryAfter } from '../back-off.ts';

export interface LaneInput {
  /** True when a service that asks for time means the whole target, and not the one message. */
  isPaced: boolean;
}

/** What becomes of the messages of one target; `message` tells them apart, `retryAfter` is milliseconds. */
export type LaneEvent =
  | { type: 'message.taken' }
  /** `isFresh` is for a message that was never refused before. */
  | { type: 'message.refused'; message: number; retryAfter: number | null; isFresh?: boolean };

export interface LaneContext extends LaneInput {
  /** The message that was refused since one was taken; `null` while none was. */
  doubted: number | null;
  /** Refusals in a row since the target itself is doubted. */
  failures: number;
  /** Milliseconds until the target is tried again. */
  pause: number;
}

/** The longest time for which nobody else is tried, in milliseconds: a good message may wait behind the bad. */
const longestPause = 5_000;

/** The pause before the next message where the one before was tried for the first time, in milliseconds. */
const freshPause = 200;

/** So many in a row are the fault of the target, which is then left alone for longer. */
const mostFresh = 16;

/**
 * The way to one target. One message that is refused is its own fault until the next is refused as well; from then on
 * it is the target's, which is tried with one message after each pause until it takes one: those that were never tried go
 * first and one soon after the other, so that bad ones do not hold up a good one behind them. A message that failed rests
 * by itself besides, so that no message holds up another for longer than seconds.
 */
export const laneMachine = setup({
  types: {
    input: {} as LaneInput,
    context: {} as LaneContext,
    events: {} as LaneEvent,
    tags: {} as 'open' | 'probing',
  },
  actions: {
    trust: assign({ doubted: null, failures: 0 }),
    doubt: assign((_, doubted: number) => ({ doubted })),
    holdPause: assign((_, pause: number) => ({ pause: Math.min(pause, longestRetryAfter) })),
    growPause: assign(({ context }, isFresh: boolean | undefined) => {
      const failures = context.failures + 1;
      return {
        failures,
        pause:
          isFresh === true && failures <= mostFresh
            ? freshPause
            : doubledPause(failures, longestPause),
      };
    }),
  },
  guards: {
    isAskedForTime: ({ context }, retryAfter: number | null) =>
      context.isPaced && retryAfter !== null,
    isAnother: ({ context }, message: number) => context.doubted !== message,
  },
  delays: { pause: ({ context }) => context.pause },
}).createMachine({
  id: 'approval-lane',
  description:
    'The way to one target of approvals. A refusal counts against its message alone until another message is refused as well; then the target itself is doubted, and one message at a time is tried until one is taken: those that were never tried one soon after the other, then those that failed after a pause of a second, doubled up to five. A service that takes messages by the second is left alone for as long as it asks.',
  context: ({ input }) => ({ ...input, doubted: null, failures: 0, pause: 0 }),
  initial: 'open',
  on: {
    'message.taken': { target: '.open', actions: 'trust' },
  },
  states: {
    open: {
      description: 'The target takes what it is sent.',
      tags: 'open',
      on: {
        'message.refused': [
          {
            guard: { type: 'isAskedForTime', params: ({ event }) => event.retryAfter },
            target: 'shut',
            actions: { type: 'holdPause', params: ({ event }) => event.retryAfter ?? 0 },
          },
          {
            target: 'doubted',
            actions: { type: 'doubt', params: ({ event }) => event.message },
          },
        ],
      },
    },
    doubted: {
      description: 'One message was refused. The others go on, and tell whose fault it is.',
      tags: 'open',
      on: {
        'message.refused': [
          {
            guard: { type: 'isAskedForTime', params: ({ event }) => event.retryAfter },
            target: 'shut',
            actions: { type: 'holdPause', params: ({ event }) => event.retryAfter ?? 0 },
          },
          {
            guard: { type: 'isAnother', params: ({ event }) => event.message },
            target: 'shut',
            actions: { type: 'growPause', params: ({ event }) => event.isFresh },
          },
        ],
      },
    },
    shut: {
      description: 'The target takes nothing for now and is left alone.',
      after: { pause: 'probing' },
    },
    probing: {
      description: 'One message at a time finds out whether the target takes any again.',
      tags: 'probing',
      on: {
        'message.refused': [
          {
            guard: { type: 'isAskedForTime', params: ({ event }) => event.retryAfter },
            target: 'shut',
            actions: { type: 'holdPause', params: ({ event }) => event.retryAfter ?? 0 },
          },
          {
            target: 'shut',
            actions: { type: 'growPause', params: ({ event }) => event.isFresh },
          },
        ],
      },
    },
  },
});
