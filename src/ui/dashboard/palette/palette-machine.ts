import { assertEvent, assign, fromPromise, setup } from 'xstate';
import { sentenceOf } from '../api/sentence-of.ts';
import type { ProcessOrder } from './entries.ts';

type PaletteEvent =
  | { type: 'order.chosen'; order: ProcessOrder }
  | { type: 'order.confirmed' }
  | { type: 'order.dropped' };

interface PaletteContext {
  order: ProcessOrder | null;
  /** The reason why the request failed. */
  problem: string | null;
}

/** The command palette while it is open. Actions that change an agent need a second key press to confirm. */
export const paletteMachine = setup({
  types: { context: {} as PaletteContext, events: {} as PaletteEvent },
  actors: {
    /** Sends the request; rejects with the sentence to display. */
    send: fromPromise<void, ProcessOrder | null>(() => Promise.resolve()),
  },
  actions: {
    noteOrder: assign(({ event }) => {
      assertEvent(event, 'order.chosen');
      return { order: event.order, problem: null };
    }),
    noteProblem: assign((_, { error }: { error: unknown }) => ({
      problem: sentenceOf(error),
    })),
  },
}).createMachine({
  id: 'palette',
  context: { order: null, problem: null },
  initial: 'choosing',
  states: {
    choosing: {
      description: 'A search is open.',
      on: { 'order.chosen': { target: 'confirming', actions: 'noteOrder' } },
    },
    confirming: {
      description: 'A command is chosen and awaits confirmation.',
      on: { 'order.confirmed': 'sending', 'order.dropped': 'choosing' },
    },
    sending: {
      description: 'The command is being sent.',
      invoke: {
        src: 'send',
        input: ({ context }) => context.order,
        onDone: 'done',
        onError: {
          target: 'confirming',
          actions: { type: 'noteProblem', params: ({ event }) => ({ error: event.error }) },
        },
      },
    },
    done: { description: 'The command was accepted.', type: 'final' },
  },
});
