import { assign, setup } from 'xstate';
import { doubledPause, longestRetryAfter } from '../back-off.ts';

export interface LaneInput {
  /** True if a delay requested by the service applies to the whole target instead of one message. */
  isPaced: boolean;
}

/** The delivery results of one target's messages. `message` identifies a message; `retryAfter` is in milliseconds. */
export type LaneEvent =
  | { type: 'message.taken' }
  /** `isFresh` is true for a message that was never refused before. */
  | { type: 'message.refused'; message: number; retryAfter: number | null; isFresh?: boolean };

export interface LaneContext extends LaneInput {
  /** The message refused since the last accepted one; `null` if there is none. */
  doubted: number | null;
  /** Number of consecutive refusals since the target itself is in doubt. */
  failures: number;
  /** Milliseconds until the next attempt for the target. */
  pause: number;
}

/** Maximum delay in milliseconds without any attempt; a valid message may wait behind refused ones. */
const longestPause = 5_000;

/** Delay in milliseconds before the next message if the previous one was a first attempt. */
const freshPause = 200;

/**
 * Number of consecutive first-attempt refusals after which the target itself is considered faulty and gets longer
 * delays.
 */
const mostFresh = 16;

/**
 * The delivery queue of one target. A single refused message is considered faulty itself until the next one is refused
 * too. From then on the target is in doubt: after each delay one message is tried, until one is accepted. Messages that
 * were never tried go first and in quick succession, so that bad messages do not hold up a good one behind them. A
 * failed message also has its own delay, so no message holds up another for more than seconds.
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
    'The lane of one approval target. A rejection counts against its message until another message is rejected too; then the target is suspected, and one message at a time is tried until one is accepted: those that were never tried one soon after the other, then those that failed after a pause of a second, doubled up to five. A service that takes messages by the second is left alone for as long as it asks.',
  context: ({ input }) => ({ ...input, doubted: null, failures: 0, pause: 0 }),
  initial: 'open',
  on: {
    'message.taken': { target: '.open', actions: 'trust' },
  },
  states: {
    open: {
      description: 'The target accepts messages.',
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
      description:
        'One message was rejected. The results of the others show whether the target is at fault.',
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
      description: 'The target is paused.',
      after: { pause: 'probing' },
    },
    probing: {
      description: 'One message at a time probes the target.',
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
