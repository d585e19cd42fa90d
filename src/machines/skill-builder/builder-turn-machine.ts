import { assign, type CallbackActorLogic, fromCallback, setup } from 'xstate';
import { type BuilderAnswer, readAnswer } from './read-answer.ts';
import { longestAnswer } from './written-skill.ts';

/** An event in one turn of a builder conversation. */
export type BuilderTurnEvent =
  | { type: 'piece.heard'; text: string }
  | { type: 'model.finished' }
  /** The message is for users. */
  | { type: 'model.failed'; message: string }
  | { type: 'client.left' };

export interface BuilderTurnContext {
  /** The model's output so far. */
  text: string;
  answer: BuilderAnswer;
  /** The error of the turn; `null` if it did not fail. */
  error: string | null;
}

/** Milliseconds without output after which the model is given up. */
const longestSilence = 60_000;

/** Maximum milliseconds for a whole answer, so slow output ends too. */
const longestTurn = 600_000;

const silence = {
  type: 'noteError',
  params: { error: 'the model sent nothing for 60 seconds; try again' },
} as const;

const said = {
  type: 'tellMessage',
  params: ({ context }: { context: BuilderTurnContext }) => ({ content: context.answer.message }),
} as const;

const failure = {
  type: 'tellError',
  params: ({ context }: { context: BuilderTurnContext }) => ({ error: context.error ?? '' }),
} as const;

const noAnswer: BuilderAnswer = { message: '', draft: null, problem: null };

/**
 * One answer of the model that writes a skill, streamed to one client. Every turn ends, regardless of the model's
 * output.
 */
export const builderTurnMachine = setup({
  types: {
    context: {} as BuilderTurnContext,
    events: {} as BuilderTurnEvent,
  },
  actors: {
    /** Port: calls the model, sends its output as events, and stops the call when the turn has ended. */
    converse: fromCallback(() => undefined) as CallbackActorLogic<BuilderTurnEvent>,
  },
  actions: {
    /** Ports: notify the client. They must not throw. */
    tellToken: (_, _token: { text: string }) => undefined,
    tellMessage: (_, _message: { content: string }) => undefined,
    tellDraft: (_, _answer: BuilderAnswer) => undefined,
    tellDone: () => undefined,
    tellError: (_, _failure: { error: string }) => undefined,
    notePiece: assign(({ context }, { text }: { text: string }) => ({
      text: context.text + text,
    })),
    noteError: assign((_, { error }: { error: string }) => ({ error })),
    readAnswer: assign(({ context }) => ({ answer: readAnswer(context.text) })),
    noteRefusal: assign(({ context }) => ({ error: context.answer.problem })),
  },
  guards: {
    isTooMuch: ({ context }, { text }: { text: string }) =>
      context.text.length + text.length > longestAnswer,
    isSilent: ({ context }) => context.text.trim() === '',
    isRefused: ({ context }) => context.answer.problem !== null,
    isDraft: ({ context }) => context.answer.draft !== null,
  },
  delays: { silence: longestSilence, turn: longestTurn },
}).createMachine({
  id: 'builderTurn',
  description:
    'One answer of the model that writes skills. It is streamed, then parsed for a skill. A model that stalls, never ends or sends too much is aborted, and so is one whose client disconnected.',
  context: { text: '', answer: noAnswer, error: null },
  initial: 'open',
  states: {
    open: {
      description: 'The model is asked.',
      tags: 'open',
      initial: 'asking',
      invoke: { src: 'converse' },
      on: {
        'piece.heard': [
          {
            guard: { type: 'isTooMuch', params: ({ event }) => event },
            target: 'failed',
            actions: {
              type: 'noteError',
              params: { error: 'the answer is longer than 1 MiB; ask for less' },
            },
          },
          {
            // Re-enters the state, which restarts the silence timeout.
            target: '.streaming',
            actions: [
              { type: 'notePiece', params: ({ event }) => event },
              { type: 'tellToken', params: ({ event }) => event },
            ],
          },
        ],
        'model.finished': { target: 'reading' },
        'model.failed': {
          target: 'failed',
          actions: { type: 'noteError', params: ({ event }) => ({ error: event.message }) },
        },
        'client.left': { target: 'left' },
      },
      after: {
        turn: {
          target: 'failed',
          actions: {
            type: 'noteError',
            params: { error: 'the model did not finish within 10 minutes; request less' },
          },
        },
      },
      states: {
        asking: {
          description: 'No text received yet.',
          after: { silence: { target: '#builderTurn.failed', actions: silence } },
        },
        streaming: {
          description: 'Text is being received; a timer watches for a stall.',
          after: { silence: { target: '#builderTurn.failed', actions: silence } },
        },
      },
    },
    reading: {
      description: 'The answer is complete; its content decides.',
      entry: 'readAnswer',
      always: [
        { guard: 'isSilent', target: 'silent' },
        { guard: 'isRefused', target: 'refused' },
        { guard: 'isDraft', target: 'drafted' },
        { target: 'answered' },
      ],
    },
    answered: {
      description: 'The model sent a message.',
      entry: [said, 'tellDone'],
      type: 'final',
    },
    drafted: {
      description: 'The model wrote a skill.',
      entry: [said, { type: 'tellDraft', params: ({ context }) => context.answer }, 'tellDone'],
      type: 'final',
    },
    silent: {
      description: 'The answer is empty.',
      entry: 'tellDone',
      type: 'final',
    },
    refused: {
      description: 'The model wrote invalid files.',
      entry: [said, 'noteRefusal', failure],
      type: 'final',
    },
    failed: {
      description: 'The answer is incomplete.',
      entry: failure,
      type: 'final',
    },
    left: { description: 'The client disconnected.', type: 'final' },
  },
});
