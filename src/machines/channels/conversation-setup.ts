import { assign, type EventObject, fromCallback, fromPromise, setup } from 'xstate';
import { unfilledPort } from '../unfilled-port.ts';
import {
  answerWindow,
  longestPause,
  mostAsks,
  mostAttempts,
  mostMarkings,
  mostTurns,
  restAfter,
} from './conversation-limits.ts';
import { fullText, heldText, lateText } from './conversation-words.ts';
import { lastWord, marking, withMark, word } from './outbox.ts';
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

export type ConversationEvent =
  | { type: 'message.received'; turn: Turn }
  | { type: 'task.held'; call: HeldCall }
  | { type: 'task.resumed' }
  | { type: 'task.ended'; end: TurnEnd };

export interface ConversationContext {
  /** Unanswered messages, oldest first. The first one is being processed. */
  turns: Turn[];
  /** Posts still to be sent to the thread, in order. */
  outbox: Utterance[];
  /** Number of times that the first message was sent to the agent. */
  asks: number;
  /** Number of attempts for the first item of the outbox. */
  attempts: number;
  /** Delay in milliseconds requested by the last refusal; `null` if there was none. */
  askAfter: number | null;
  speakAfter: number | null;
}

/** Setup of the conversation chart: its ports (unfilled here), actions and guards. */
export const conversationSetup = setup({
  types: {
    context: {} as ConversationContext,
    events: {} as ConversationEvent,
    input: {} as { turn: Turn },
  },
  actors: {
    /** Sends a message to the agent and waits for the result, until aborted. */
    ask: fromPromise<Asked, { turn: Turn }>(unfilledPort),
    /** Sends the task's events: `task.held`, `task.resumed`, `task.ended`. */
    follow: fromCallback<EventObject, { turn: Turn }>(() => undefined),
    speak: fromPromise<Spoken, { utterance: Utterance }>(unfilledPort),
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
    /** Port: stores the progress of a message's answer on disk. */
    keepTurn: (_, _turn: Turn) => undefined,
    /** Port: records on disk that a message has received its final reply. */
    closeTurn: (_, _message: ChatMessage | null) => undefined,
    /** Port: reports a post that could not be sent to the thread. */
    noteUnsaid: (_, _lost: { utterance: Utterance; error: unknown }) => undefined,
  },
  guards: {
    hasTurn: ({ context }) => context.turns.length > 0,
    isFull: ({ context }) => context.turns.length >= mostTurns,
    /** A user who floods a thread does not get a reply to each message. */
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
});

/** Returns the message being processed. Throws if there is none. */
export function currentOf({ turns: [turn] }: ConversationContext): Turn {
  if (turn === undefined) throw new Error('no message waits for an answer');
  return turn;
}

/** Returns the next post of the outbox. Throws if there is none. */
export function firstOf({ outbox: [utterance] }: ConversationContext): Utterance {
  if (utterance === undefined) throw new Error('nothing is left to say');
  return utterance;
}
