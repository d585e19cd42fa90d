import { assign, fromCallback, setup } from 'xstate';
import { reconnectDelay } from '../api/reconnect-delay.ts';
import type { StreamEvent } from './stream-event.ts';

/** A message between the tabs of this browser. */
export type TabMessage =
  | { kind: 'event'; event: StreamEvent }
  | { kind: 'open' | 'broken' | 'asked' };

/** A tab's state with regard to the browser's shared stream. */
export interface ConnectionContext {
  /** ID of the last event, after which a stream resumes; empty before the first. */
  lastEventId: string;
  failures: number;
}

export type ConnectionEvent =
  | { type: 'leadership.won' }
  | { type: 'tab.event'; event: StreamEvent }
  | { type: 'tab.open' }
  | { type: 'tab.broken' }
  | { type: 'tab.asked' }
  | { type: 'stream.opened' }
  | { type: 'stream.event'; event: StreamEvent }
  | { type: 'stream.ended' }
  | { type: 'stream.refused' }
  | { type: 'session.changed' };

/**
 * One tab's role in the event stream shared by all tabs of a browser. A browser opens at most six connections to a
 * host, so the tab that holds the lock reads the stream and forwards the events. When that tab closes, the next one
 * resumes after the last event it has received. Only a tab with a rejected token does not participate, because it could
 * not read the stream.
 */
export const connectionMachine = setup({
  types: { context: {} as ConnectionContext, events: {} as ConnectionEvent },
  actors: {
    /** Requests the browser lock and holds it until stopped. */
    campaign: fromCallback<ConnectionEvent>(() => undefined),
    /** Receives messages of the other tabs. */
    listen: fromCallback<ConnectionEvent>(() => undefined),
    /** Reads the stream from the event after `lastEventId`. */
    stream: fromCallback<ConnectionEvent, { lastEventId: string }>(() => undefined),
  },
  actions: {
    /** Passes the event to the views of this tab. */
    deliver: (_, _params: { event: StreamEvent }) => undefined,
    /** Sends a message to the other tabs. */
    tell: (_, _params: TabMessage) => undefined,
    /** Reloads everything, because changes may have been missed. */
    readAgain: () => undefined,
    noteEvent: assign((_, { event }: { event: StreamEvent }) => ({ lastEventId: event.id })),
    countFailure: assign(({ context }) => ({ failures: context.failures + 1 })),
    forgetFailures: assign({ failures: 0 }),
  },
  guards: {
    /** A stream without a starting event may have missed some. */
    nothingSeen: ({ context }) => context.lastEventId === '',
  },
  delays: { backOff: ({ context }) => reconnectDelay(context) },
}).createMachine({
  id: 'connection',
  context: { lastEventId: '', failures: 0 },
  initial: 'sharing',
  states: {
    sharing: {
      description:
        'The tab participates: it stands for election and receives messages of the other tabs.',
      invoke: [{ src: 'campaign' }, { src: 'listen' }],
      initial: 'following',
      on: {
        'tab.event': {
          actions: [
            { type: 'noteEvent', params: ({ event }) => ({ event: event.event }) },
            { type: 'deliver', params: ({ event }) => ({ event: event.event }) },
          ],
        },
      },
      states: {
        following: {
          description: 'Another tab reads the stream.',
          entry: { type: 'tell', params: { kind: 'asked' } },
          initial: 'waiting',
          on: {
            'leadership.won': 'leading',
            'tab.open': '.informed',
            'tab.broken': '.waiting',
          },
          states: {
            waiting: { description: 'The leader is reconnecting.' },
            informed: { description: 'The leader has a stream.', tags: 'open' },
          },
        },
        leading: {
          description: 'This tab reads the stream and forwards events to the others.',
          initial: 'streaming',
          on: { 'stream.refused': '#connection.refused' },
          states: {
            streaming: {
              invoke: { src: 'stream', input: ({ context }) => context },
              initial: 'connecting',
              on: {
                'stream.ended': 'backingOff',
                'stream.event': {
                  actions: [
                    { type: 'noteEvent', params: ({ event }) => ({ event: event.event }) },
                    { type: 'deliver', params: ({ event }) => ({ event: event.event }) },
                    {
                      type: 'tell',
                      params: ({ event }) => ({ kind: 'event', event: event.event }),
                    },
                  ],
                },
              },
              states: {
                connecting: {
                  on: {
                    'stream.opened': [
                      { guard: 'nothingSeen', target: 'open', actions: 'readAgain' },
                      { target: 'open' },
                    ],
                  },
                },
                open: {
                  tags: 'open',
                  entry: ['forgetFailures', { type: 'tell', params: { kind: 'open' } }],
                  on: { 'tab.asked': { actions: { type: 'tell', params: { kind: 'open' } } } },
                },
              },
            },
            backingOff: {
              description: 'The stream ended or failed to open.',
              entry: ['countFailure', { type: 'tell', params: { kind: 'broken' } }],
              after: { backOff: 'streaming' },
            },
          },
        },
      },
    },
    refused: {
      description: 'The server requires a token that this tab lacks.',
      on: { 'session.changed': 'sharing' },
    },
  },
});
