import { conversationSetup, currentOf, firstOf } from './conversation-setup.ts';
import { lastWordsOf, wordsOf } from './conversation-words.ts';
import { closedBy } from './outbox.ts';
import type { Asked, Spoken } from './turn.ts';

/** An error of a port is reported like an unreachable agent. */
const unreachable: Asked = { kind: 'refused', refusal: 'unavailable', retryAfter: null };

/**
 * One thread of a chat. Its messages are answered one at a time, oldest first, and each message gets exactly one final
 * reply.
 */
export const conversationMachine = conversationSetup.createMachine({
  id: 'conversation',
  description:
    'One thread of a chat. Its messages become runs of one task, in order; each message gets a reaction while it is processed, a notice when a call waits or the answer takes longer than six minutes, and one final answer. Failed posts are retried with back-off and never block the task.',
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
      description: 'Messages of the thread, one after another.',
      initial: 'idle',
      states: {
        idle: {
          description: 'No message is waiting.',
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
              description: 'The message was sent to the agent; its answer is pending.',
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
              description: 'The agent is busy or unreachable; retrying after a pause.',
              after: { askPause: 'asking' },
            },
            late: {
              description:
                'The window has passed; the task continues, and the thread was notified.',
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
      description: 'Posts to the thread, in order.',
      initial: 'silent',
      states: {
        silent: {
          description: 'All posts are done.',
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
        over: { type: 'final', description: 'Nothing left to post.' },
      },
    },
  },
});

function delayOf(asked: Asked): { retryAfter: number | null } {
  return { retryAfter: asked.kind === 'refused' ? asked.retryAfter : null };
}

function restOf(spoken: Spoken): { retryAfter: number | null } {
  return { retryAfter: spoken.kind === 'failed' ? spoken.retryAfter : null };
}
