import { assign, fromPromise, setup } from 'xstate';
import { sentenceOf } from '../dashboard/api/sentence-of.ts';

export type NotificationsEvent =
  | { type: 'person.came' }
  | { type: 'person.left' }
  | { type: 'turn-on' }
  | { type: 'turn-off' };

/** Whether this device receives notifications of the person; `null` for a browser that has none. */
export type NotificationsState = 'on' | 'off' | null;

const failed = {
  type: 'noteProblem',
  params: ({ event }: { event: { error: unknown } }) => ({ problem: sentenceOf(event.error) }),
} as const;

/** The notifications of the person on this device. */
export const notificationsMachine = setup({
  types: { context: {} as { problem: string | null }, events: {} as NotificationsEvent },
  actors: {
    read: fromPromise<NotificationsState>(() => Promise.resolve(null)),
    turnOn: fromPromise<void>(() => Promise.resolve()),
    turnOff: fromPromise<void>(() => Promise.resolve()),
  },
  actions: {
    noteProblem: assign((_, { problem }: { problem: string }) => ({ problem })),
    forget: assign({ problem: null }),
  },
  guards: {
    is: (_, { state, output }: { state: NotificationsState; output: NotificationsState }) =>
      output === state,
  },
}).createMachine({
  id: 'notifications',
  context: { problem: null },
  initial: 'signedOut',
  on: { 'person.left': { target: '.signedOut' } },
  states: {
    signedOut: { entry: 'forget', on: { 'person.came': { target: 'reading' } } },
    reading: {
      invoke: {
        src: 'read',
        onDone: [
          {
            guard: { type: 'is', params: ({ event }) => ({ state: 'on', ...event }) },
            target: 'on',
          },
          {
            guard: { type: 'is', params: ({ event }) => ({ state: 'off', ...event }) },
            target: 'off',
          },
          { target: 'unsupported' },
        ],
        onError: { target: 'unsupported' },
      },
    },
    unsupported: { description: 'The browser or the daemon offers no notifications.' },
    off: { on: { 'turn-on': { target: 'turningOn', actions: 'forget' } } },
    turningOn: {
      description: 'The browser asks the person for permission.',
      invoke: {
        src: 'turnOn',
        onDone: { target: 'on' },
        onError: { target: 'off', actions: failed },
      },
    },
    on: { on: { 'turn-off': { target: 'turningOff', actions: 'forget' } } },
    turningOff: {
      invoke: {
        src: 'turnOff',
        onDone: { target: 'off' },
        onError: { target: 'on', actions: failed },
      },
    },
  },
});
