import { assign, type EventObject, fromCallback, fromPromise, setup } from 'xstate';
import {
  answerWindow,
  longestPause,
  mostAsks,
  mostAttempts,
  mostMarkings,
  mostTurns,
  restAfter,
} from './conversation-limits.ts';
import { fullText, heldText, lastWordsOf, lateText, wordsOf } from './conversation-words.ts';
import { closedBy, lastWord, marking, withMark, word } from './outbox.ts';
import type {
  Asked,
  ChatMessage,
  HeldCall,
  Spoken,
  Turn,
  TurnEnd,
  TurnMark,
  Utterance,
} from './turn.ts';

/** What happens in a thread, and to the task behind it. */
export type ConversationEvent =
  | { type: 'message.received'; turn: Turn }
  | { type: 'task.held'; call: HeldCall }
  | { type: 'task.resumed' }
  | { type: 'task.ended'; end: TurnEnd };

export interface ConversationContext {
  /** Messages that are not answered yet, oldest first; the first is being worked on. */
  turns: Turn[];
  /** What is still to be put into the thread, in order. */
  outbox: Utterance[];
  /** Times that the first message was put to the agent. */
  asks: number;
  /** Times that the first of the outbox was tried. */
  attempts: number;
  /** Milliseconds that whoever refused last asks to be left alone for; `null` when it did not say. */
  askAfter: number | null;
  speakAfter: number | null;
}

/** A defect of a port is told in the words for an agent that does not answer. */
const unreachable: Asked = { kind: 'refused', refusal: 'unavailable', retryAfter: null };

const unfilled = () => Promise.reject(new Error('the port is not filled'));

/**
 * One thread of a chat: what is said in it is answered one after the other, oldest first, and each message gets
 * exactly one last word.
 */
export const conversationMachine = setup({
  types: {
    context: {} as ConversationContext,
    events: {} as ConversationEvent,
    input: {} as { turn: Turn },
  },
  actors: {
    /** Puts a message to the agent and waits for what comes of it, until it is aborted. */
    ask: fromPromise<Asked, { turn: Turn }>(unfilled),
    /** Tells what becomes of the task: `task.held`, `task.resumed`, `task.ended`. */
    follow: fromCallback<EventObject, { turn: Turn }>(() => undefined),
    speak: fromPromise<Spoken, { utterance: Utterance }>(unfilled),
  },
  actions: {
    takeIn: assign(({ context }, turn: Turn) => ({ turns: [...context.turns, turn] })),
    tellFull: assign(({ context }, { message }: Turn) => ({
      outbox: [...context.outbox, lastWord(message, fullText), marking(message, 'failed')],
    })),
    countAsk: assign({ asks: ({ context }) => context.asks + 1 }),
    noteRefusal: assign((_, { retryAfter }: { retryAfter: number | null }) => ({
      askAfter: retryAfter,
    })),
    mark: assign(({ context }, mark: TurnMark) => ({
      outbox: withMark(context.outbox, marking(currentOf(context).message, mark)),
    })),
    tellHeld: assign(({ context }, call: HeldCall) => {
      const turn = currentOf(context);
      const { message } = turn;
      return {
        turns: [{ ...turn, heldId: call.id }, ...context.turns.slice(1)],
        outbox: [
          ...withMark(context.outbox, marking(message, 'waiting')),
          word(message, heldText(call)),
        ],
      };
    }),
    tellLate: assign(({ context }) => {
      const turn = currentOf(context);
      return {
        turns: [{ ...turn, isLate: true }, ...context.turns.slice(1)],
        outbox: [...context.outbox, word(turn.message, lateText)],
      };
    }),
    answer: assign(({ context }, { markdown, mark }: { markdown: string; mark: TurnMark }) => {
      const { message } = currentOf(context);
      return {
        outbox: withMark([...context.outbox, lastWord(message, markdown)], marking(message, mark)),
      };
    }),
    dropTurn: assign(({ context }) => ({ turns: context.turns.slice(1), asks: 0, askAfter: null })),
    countAttempt: assign({ attempts: ({ context }) => context.attempts + 1 }),
    noteFailure: assign((_, { retryAfter }: { retryAfter: number | null }) => ({
      speakAfter: retryAfter,
    })),
    dequeue: assign(({ context }) => ({
      outbox: context.outbox.slice(1),
      attempts: 0,
      speakAfter: null,
    })),
    /** A port: keeps on disk how far the answer to a message is. */
    keepTurn: (_, _turn: Turn) => undefined,
    /** A port: keeps on disk that a message has had its last word. */
    closeTurn: (_, _message: ChatMessage | null) => undefined,
    /** A port: says that something could not be put into the thread. */
    noteUnsaid: (_, _lost: { utterance: Utterance; error: unknown }) => undefined,
  },
  guards: {
    hasTurn: ({ context }) => context.turns.length > 0,
    isFull: ({ context }) => context.turns.length >= mostTurns,
    /** Whoever floods a thread is not told of each message. */
    isFlooded: ({ context }) => context.outbox.length >= 2 * mostTurns,
    hasWords: ({ context }) => context.outbox.length > 0,
    isSilent: ({ context }) => context.outbox.length === 0,
    isOver: ({ context }) => context.turns.length === 0 && context.outbox.length === 0,
    isNewCall: ({ context }, { id }: HeldCall) => currentOf(context).heldId !== id,
    isToldLate: ({ context }) => currentOf(context).isLate,
    hasEnded: (_, asked: Asked) => asked.kind === 'ended',
    isRunning: (_, asked: Asked) => asked.kind === 'running',
    mayAskAgain: ({ context }, asked: Asked) =>
      asked.kind === 'refused' &&
      ['running', 'limited', 'unavailable'].includes(asked.refusal) &&
      (asked.retryAfter ?? 0) <= longestPause &&
      context.asks < mostAsks,
    mayAskOnceMore: ({ context }) => context.asks < mostAsks,
    isDelivered: (_, spoken: Spoken) => spoken.kind === 'delivered',
    maySpeakAgain: ({ context }, spoken: Spoken) =>
      spoken.kind === 'failed' &&
      spoken.isPassing &&
      context.attempts < (firstOf(context).kind === 'mark' ? mostMarkings : mostAttempts),
  },
  delays: {
    answerWindow,
    askPause: ({ context }) => restAfter(context.asks, context.askAfter),
    speakRest: ({ context }) => restAfter(context.attempts, context.speakAfter),
  },
}).createMachine({
  id: 'conversation',
  description:
    'One thread of a chat. What is said in it becomes runs of one task, one after the other and oldest first; each message gets a mark while it is worked on, a word when a call waits for a release or when the answer takes longer than six minutes, and one last word. What cannot be put into the thread is tried again with growing rests and never holds up the task.',
  context: ({ input }) => ({
    turns: [input.turn],
    outbox: [],
    asks: 0,
    attempts: 0,
    askAfter: null,
    speakAfter: null,
  }),
  type: 'parallel',
  on: {
    'message.received': [
      {
        guard: 'isFlooded',
        actions: { type: 'closeTurn', params: ({ event }) => event.turn.message },
      },
      { guard: 'isFull', actions: { type: 'tellFull', params: ({ event }) => event.turn } },
      { actions: { type: 'takeIn', params: ({ event }) => event.turn } },
    ],
  },
  states: {
    turn: {
      description: 'What is said in the thread, one message after the other.',
      initial: 'idle',
      states: {
        idle: {
          description: 'Nothing waits for an answer.',
          always: [
            { guard: 'hasTurn', target: 'current' },
            { guard: 'isOver', target: 'over' },
          ],
        },
        current: {
          description: 'The oldest message is being worked on, and its task is followed.',
          entry: { type: 'mark', params: 'working' as const },
          invoke: {
            src: 'follow',
            input: ({ context }) => ({ turn: currentOf(context) }),
          },
          initial: 'asking',
          on: {
            'task.held': [
              {
                guard: { type: 'isNewCall', params: ({ event }) => event.call },
                actions: [
                  { type: 'tellHeld', params: ({ event }) => event.call },
                  { type: 'keepTurn', params: ({ context }) => currentOf(context) },
                ],
              },
              { actions: { type: 'mark', params: 'waiting' as const } },
            ],
            'task.resumed': { actions: { type: 'mark', params: 'working' as const } },
            'task.ended': {
              target: 'answering',
              actions: { type: 'answer', params: ({ event }) => lastWordsOf(event.end) },
            },
          },
          states: {
            asking: {
              description: 'The message has been put to the agent, whose answer is waited for.',
              entry: 'countAsk',
              invoke: {
                src: 'ask',
                input: ({ context }) => ({ turn: currentOf(context) }),
                onDone: [
                  {
                    guard: { type: 'hasEnded', params: ({ event }) => event.output },
                    target: '#conversation.turn.answering',
                    actions: { type: 'answer', params: ({ event }) => wordsOf(event.output) },
                  },
                  { guard: { type: 'isRunning', params: ({ event }) => event.output } },
                  {
                    guard: { type: 'mayAskAgain', params: ({ event }) => event.output },
                    target: 'pausing',
                    actions: { type: 'noteRefusal', params: ({ event }) => delayOf(event.output) },
                  },
                  {
                    target: '#conversation.turn.answering',
                    actions: { type: 'answer', params: ({ event }) => wordsOf(event.output) },
                  },
                ],
                onError: [
                  { guard: 'mayAskOnceMore', target: 'pausing' },
                  {
                    target: '#conversation.turn.answering',
                    actions: { type: 'answer', params: wordsOf(unreachable) },
                  },
                ],
              },
              after: {
                answerWindow: [
                  { guard: 'isToldLate', target: 'late' },
                  {
                    target: 'late',
                    actions: [
                      'tellLate',
                      { type: 'keepTurn', params: ({ context }) => currentOf(context) },
                    ],
                  },
                ],
              },
            },
            pausing: {
              description: 'The agent is busy or out of reach; it is asked again after a pause.',
              after: { askPause: 'asking' },
            },
            late: {
              description: 'The window has passed; the task goes on, and the thread knows.',
            },
          },
        },
        answering: {
          description: 'The last word is on its way into the thread.',
          always: { guard: 'isSilent', target: 'idle', actions: 'dropTurn' },
        },
        over: { type: 'final', description: 'Everything is answered.' },
      },
    },
    voice: {
      description: 'What is put into the thread, in order.',
      initial: 'silent',
      states: {
        silent: {
          description: 'Everything has been said.',
          always: [
            { guard: 'hasWords', target: 'speaking' },
            { guard: 'isOver', target: 'over' },
          ],
        },
        speaking: {
          description: 'The next word or mark is being put into the thread.',
          entry: 'countAttempt',
          invoke: {
            src: 'speak',
            input: ({ context }) => ({ utterance: firstOf(context) }),
            onDone: [
              {
                guard: { type: 'isDelivered', params: ({ event }) => event.output },
                target: 'silent',
                actions: [
                  { type: 'closeTurn', params: ({ context }) => closedBy(firstOf(context)) },
                  'dequeue',
                ],
              },
              {
                guard: { type: 'maySpeakAgain', params: ({ event }) => event.output },
                target: 'resting',
                actions: { type: 'noteFailure', params: ({ event }) => restOf(event.output) },
              },
              {
                target: 'silent',
                actions: [
                  {
                    type: 'noteUnsaid',
                    params: ({ context, event }) => ({
                      utterance: firstOf(context),
                      error: event.output.kind === 'failed' ? event.output.error : null,
                    }),
                  },
                  { type: 'closeTurn', params: ({ context }) => closedBy(firstOf(context)) },
                  'dequeue',
                ],
              },
            ],
            onError: {
              target: 'silent',
              actions: [
                {
                  type: 'noteUnsaid',
                  params: ({ context, event }) => ({
                    utterance: firstOf(context),
                    error: event.error,
                  }),
                },
                { type: 'closeTurn', params: ({ context }) => closedBy(firstOf(context)) },
                'dequeue',
              ],
            },
          },
        },
        resting: {
          description: 'The chat did not take it; the same is tried again after a rest.',
          after: { speakRest: 'speaking' },
        },
        over: { type: 'final', description: 'Nothing is left to say.' },
      },
    },
  },
});

function currentOf({ turns: [turn] }: ConversationContext): Turn {
  if (turn === undefined) throw new Error('no message waits for an answer');
  return turn;
}

function firstOf({ outbox: [utterance] }: ConversationContext): Utterance {
  if (utterance === undefined) throw new Error('nothing is left to say');
  return utterance;
}

function delayOf(asked: Asked): { retryAfter: number | null } {
  return { retryAfter: asked.kind === 'refused' ? asked.retryAfter : null };
}

function restOf(spoken: Spoken): { retryAfter: number | null } {
  return { retryAfter: spoken.kind === 'failed' ? spoken.retryAfter : null };
}
