import { assign, fromPromise, setup } from 'xstate';
import { doubledPause } from '../back-off.ts';
import { unfilledPort } from '../unfilled-port.ts';

/** Lines were delivered, or the delivery is no longer needed. */
export type SinkEvent = { type: 'lines.delivered' } | { type: 'sink.close' };

export interface SinkContext {
  /** Number of failures since the last successful delivery. */
  failures: number;
}

const longestPause = 60_000;

/** Returns the delay in milliseconds after consecutive failures: 1 s, doubled up to a minute. */
export function sinkPause(failures: number): number {
  return doubledPause(failures, longestPause);
}

/**
 * Delivery of the audit log to one sink. A failing sink only delays its delivery: the log never waits for it, and lines
 * stay queued in every state except open.
 */
export const sinkMachine = setup({
  types: {
    context: {} as SinkContext,
    events: {} as SinkEvent,
  },
  actors: {
    /** Resolves once the sink accepts lines. */
    connect: fromPromise<void>(unfilledPort),
    /** Delivers lines in order as they arrive. Ends only on a failure or when the sink closes the connection. */
    deliver: fromPromise<void>(unfilledPort),
  },
  actions: {
    countFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    forgetFailures: assign({ failures: 0 }),
    /** Port: reports that lines are delivered again. */
    noteOpen: () => undefined,
    /** Port: reports that delivery is interrupted. */
    noteFailure: (_, _failure: { error: unknown }) => undefined,
  },
  delays: { pause: ({ context }) => sinkPause(context.failures) },
}).createMachine({
  id: 'auditSink',
  description:
    'The way from the audit log to one place that wants its lines too. The log never waits for it: lines are queued up to a bound while it connects or rests after a failure, and every failure in a row doubles the rest, from a second to a minute.',
  context: { failures: 0 },
  initial: 'connecting',
  on: { 'sink.close': { target: '.closed' } },
  states: {
    connecting: {
      description: 'Lines are being sent.',
      invoke: {
        src: 'connect',
        onDone: { target: 'open' },
        onError: {
          target: 'backoff',
          actions: { type: 'noteFailure', params: ({ event }) => ({ error: event.error }) },
        },
      },
    },
    open: {
      description: 'Lines are delivered in the order of the log.',
      entry: 'noteOpen',
      on: { 'lines.delivered': { actions: 'forgetFailures' } },
      invoke: {
        src: 'deliver',
        onDone: {
          target: 'backoff',
          actions: { type: 'noteFailure', params: { error: new Error('the other end hung up') } },
        },
        onError: {
          target: 'backoff',
          actions: { type: 'noteFailure', params: ({ event }) => ({ error: event.error }) },
        },
      },
    },
    backoff: {
      description: 'The place is left alone for a while that grows with every failure.',
      entry: 'countFailure',
      after: { pause: { target: 'connecting' } },
    },
    closed: {
      description: 'Nothing is delivered any more.',
      type: 'final',
    },
  },
});
