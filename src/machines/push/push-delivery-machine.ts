import { assign, fromPromise, setup } from 'xstate';
import { doubledPause } from '../back-off.ts';
import { isFinal, type Task } from '../task/task.ts';
import { unfilledPort } from '../unfilled-port.ts';

/** What happens to a receiver of notifications. */
export type PushDeliveryEvent = { type: 'task.changed'; task: Task };

export interface PushDeliveryInput {
  /** The last revision that the receiver knows, or that was there before it asked; 0 for none. */
  told: number;
}

export interface PushDeliveryContext extends PushDeliveryInput {
  /** Changes that are not delivered yet, oldest first. */
  waiting: Task[];
  /** The last change that was taken in; `null` before any. */
  latest: Pick<Task, 'state' | 'text' | 'revision'> | null;
  /** Attempts for the first of those that wait. */
  attempts: number;
}

/** Changes that may wait for one receiver; beyond it the oldest gives way, but for the one under way. */
export const mostWaiting = 32;

/** Attempts that one change is given, which with their pauses take about an hour (docs/contract/a2a.md). */
export const mostAttempts = 19;

/** The pause after an attempt that failed, in milliseconds: doubling from a second to five minutes. */
export function pauseAfter(attempts: number): number {
  return doubledPause(attempts, 300_000);
}

/**
 * One receiver that is told what becomes of one task: every change once and in order, as far as the
 * receiver answers within about an hour.
 */
export const pushDeliveryMachine = setup({
  types: {
    input: {} as PushDeliveryInput,
    context: {} as PushDeliveryContext,
    events: {} as PushDeliveryEvent,
  },
  actors: {
    post: fromPromise<void, { task: Task }>(unfilledPort),
  },
  actions: {
    takeIn: assign(({ context: { waiting } }, task: Task) => ({
      waiting: [...(waiting.length < mostWaiting ? waiting : withoutSecond(waiting)), task],
      latest: { state: task.state, text: task.text, revision: task.revision },
    })),
    countAttempt: assign(({ context }) => ({ attempts: context.attempts + 1 })),
    dequeue: assign(({ context }) => ({ waiting: context.waiting.slice(1), attempts: 0 })),
    /** A port: keeps on disk that the receiver was told, or will not be told, of a change. */
    keepTold: (_, _task: Task) => undefined,
    /** A port: says that a change could not be delivered. */
    noteGivenUp: (_, _failure: { task: Task; error: unknown }) => undefined,
  },
  guards: {
    /** What was read before a change may be heard after it. */
    hasChanged: ({ context: { told, latest } }, { state, text, revision }: Task) =>
      revision > (latest?.revision ?? told) &&
      (latest === null || latest.state !== state || latest.text !== text),
    isExhausted: ({ context }) => context.attempts >= mostAttempts,
    isWaiting: ({ context: { waiting } }) => waiting.length > 0,
    isOver: ({ context: { latest, waiting } }) =>
      waiting.length === 0 && latest !== null && isFinal(latest.state),
  },
  delays: { pause: ({ context }) => pauseAfter(context.attempts) },
}).createMachine({
  id: 'push-delivery',
  description:
    'One receiver of push notifications of one task. Changes are posted one by one and in order; one that fails is tried again, with growing pauses, for about an hour, and then given up for the next. It ends when the end of the task has been told.',
  context: ({ input: { told } }) => ({ told, waiting: [], latest: null, attempts: 0 }),
  initial: 'idle',
  on: {
    'task.changed': {
      guard: { type: 'hasChanged', params: ({ event }) => event.task },
      actions: { type: 'takeIn', params: ({ event }) => event.task },
    },
  },
  states: {
    idle: {
      description: 'Everything that happened has been told.',
      always: [
        { guard: 'isOver', target: 'closed' },
        { guard: 'isWaiting', target: 'posting' },
      ],
    },
    posting: {
      description: 'The oldest change is being posted.',
      entry: 'countAttempt',
      invoke: {
        src: 'post',
        input: ({ context }) => ({ task: firstOf(context.waiting) }),
        onDone: {
          target: 'idle',
          actions: [
            { type: 'keepTold', params: ({ context }) => firstOf(context.waiting) },
            'dequeue',
          ],
        },
        onError: [
          {
            guard: 'isExhausted',
            target: 'idle',
            actions: [
              {
                type: 'noteGivenUp',
                params: ({ context, event }) => ({
                  task: firstOf(context.waiting),
                  error: event.error,
                }),
              },
              { type: 'keepTold', params: ({ context }) => firstOf(context.waiting) },
              'dequeue',
            ],
          },
          { target: 'pausing' },
        ],
      },
    },
    pausing: {
      description: 'The receiver did not take it; the same change is posted again after a pause.',
      after: { pause: 'posting' },
    },
    closed: {
      description: 'The receiver knows how the task ended.',
      type: 'final',
    },
  },
});

/** The first may be under way. */
function withoutSecond([first, , ...others]: readonly Task[]): Task[] {
  return first === undefined ? others : [first, ...others];
}

function firstOf([task]: readonly Task[]): Task {
  if (task === undefined) throw new Error('no change waits to be told');
  return task;
}
