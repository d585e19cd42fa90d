import { assign, fromPromise, setup } from 'xstate';
import { doubledPause } from '../back-off.ts';
import { unfilledPort } from '../unfilled-port.ts';

export type DevicePushEvent = { type: 'call.waits' };

export interface DevicePushContext {
  /** Number of calls that began to wait since the last push was built. */
  missed: number;
  /** Number of attempts for the current push. */
  attempts: number;
}

/** `gone`: the push service no longer knows the device. */
export type DevicePushOutcome = 'sent' | 'gone';

/** Maximum number of attempts per push; with the delays, about a minute. */
const mostDeviceAttempts = 6;

/**
 * Pushes to one device, from the first call that begins to wait until nothing is missed. Calls that begin together cause
 * one push, and a device receives at most one push in 20 seconds.
 */
export const devicePushMachine = setup({
  types: { context: {} as DevicePushContext, events: {} as DevicePushEvent },
  actors: {
    post: fromPromise<DevicePushOutcome>(unfilledPort),
  },
  actions: {
    countMissed: assign(({ context }) => ({ missed: context.missed + 1 })),
    countAttempt: assign(({ context }) => ({ missed: 0, attempts: context.attempts + 1 })),
    beginAnew: assign({ attempts: 0 }),
    /** Port: reports that a push could not be sent. */
    noteGivenUp: (_, _failure: { error: unknown }) => undefined,
  },
  guards: {
    isGone: (_, { output }: { output: DevicePushOutcome }) => output === 'gone',
    isExhausted: ({ context }) => context.attempts >= mostDeviceAttempts,
    hasMissed: ({ context }) => context.missed > 0,
  },
  delays: {
    gathering: 500,
    pause: ({ context }) => doubledPause(context.attempts, 30_000),
    resting: 20_000,
  },
}).createMachine({
  id: 'device-push',
  description:
    'The notifications of one device, from the first call that begins to wait until nothing is missed. Calls that begin together cause one push, and a failed push is retried for about a minute.',
  context: { missed: 0, attempts: 0 },
  initial: 'gathering',
  on: { 'call.waits': { actions: 'countMissed' } },
  states: {
    gathering: {
      description: 'Calls that begin to wait together cause one push.',
      after: { gathering: 'posting' },
    },
    posting: {
      description: 'The number of waiting calls is read and sent.',
      entry: 'countAttempt',
      invoke: {
        src: 'post',
        onDone: [
          { guard: { type: 'isGone', params: ({ event }) => event }, target: 'ended' },
          { target: 'resting' },
        ],
        onError: [
          {
            guard: 'isExhausted',
            target: 'resting',
            actions: { type: 'noteGivenUp', params: ({ event }) => ({ error: event.error }) },
          },
          { target: 'pausing' },
        ],
      },
    },
    pausing: {
      description: 'The push service did not take it; the number is read again after a pause.',
      after: { pause: 'posting' },
    },
    resting: {
      description: 'No further push for a while.',
      entry: 'beginAnew',
      after: { resting: [{ guard: 'hasMissed', target: 'posting' }, { target: 'ended' }] },
    },
    ended: { description: 'Nothing is missed, or the device is gone.', type: 'final' },
  },
});
