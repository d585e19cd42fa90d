import { assign, fromPromise, setup } from 'xstate';
import { doubledPause } from '../back-off.ts';
import { unfilledPort } from '../unfilled-port.ts';

/** Lines have arrived, or nobody wants them delivered any more. */
export type SinkEvent = { type: 'lines.delivered' } | { type: 'sink.close' };

export interface SinkContext {
  /** Failures since lines last arrived. */
  failures: number;
}

const longestPause = 60_000;

/** How long a sink is left alone after so many failures in a row, in milliseconds: 1 s, doubled up to a minute. */
export function sinkPause(failures: number): number {
  return doubledPause(failures, longestPause);
}

/**
 * The delivery of the audit log to one sink. It only ever loses time: the log
 * does not wait for it, and lines stay queued while it is anywhere but open.
 */
export const sinkMachine = setup({
  types: {
    context: {} as SinkContext,
    events: {} as SinkEvent,
  },
  actors: {
    /** Resolves once the place takes lines. */
    connect: fromPromise<void>(unfilledPort),
    /** Delivers lines as they come, in order; ends only by a failure or when the place hangs up. */
    deliver: fromPromise<void>(unfilledPort),
  },
  actions: {
    countFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    forgetFailures: assign({ failures: 0 }),
    /** A port: says that lines are delivered again. */
    noteOpen: () => undefined,
    /** A port: says that lines are not delivered for now. */
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
      description: 'The place is asked to take lines.',
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
