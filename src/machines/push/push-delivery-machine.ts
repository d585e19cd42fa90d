import { assign, fromPromise, setup } from 'xstate';
import { doubledPause } from '../back-off.ts';
import { isFinal, type Task } from '../domain/task.ts';
import { unfilledPort } from '../unfilled-port.ts';

export type PushDeliveryEvent = { type: 'task.changed'; task: Task };

export interface PushDeliveryInput {
  /** The last revision that the receiver has, or that existed before it subscribed; 0 for none. */
  told: number;
}

export interface PushDeliveryContext extends PushDeliveryInput {
  /** Undelivered changes, oldest first. */
  waiting: Task[];
  /** The last received change; `null` if there is none. */
  latest: Pick<Task, 'state' | 'text' | 'revision'> | null;
  /** Number of attempts for the first waiting change. */
  attempts: number;
}

/** Maximum number of waiting changes per receiver. Beyond it the oldest is dropped, except for the one being sent. */
export const mostWaiting = 32;

/** Maximum number of attempts per change; with the delays, about an hour (docs/contract/a2a.md). */
export const mostAttempts = 19;

/** Returns the delay in milliseconds after a failed attempt: doubled from one second to five minutes. */
export function pauseAfter(attempts: number): number {
  return doubledPause(attempts, 300_000);
}

/**
 * Delivery of one task's changes to one receiver: each change once and in order, as long as the receiver answers within
 * about an hour.
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
    /** Port: records on disk that a change was delivered or given up. */
    keepTold: (_, _task: Task) => undefined,
    /** Port: reports that a change could not be delivered. */
    noteGivenUp: (_, _failure: { task: Task; error: unknown }) => undefined,
  },
  guards: {
    /** A state read before a change may arrive after the change. */
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
    'One push receiver of one task. Changes are posted in order; a failed one is retried with back-off for about an hour and then skipped. It ends once the end of the task is delivered.',
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
      description: 'All changes are delivered.',
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
      description: 'The end of the task is delivered.',
      type: 'final',
    },
  },
});

/** The first change may be in transit, so the second one is dropped. */
function withoutSecond([first, , ...others]: readonly Task[]): Task[] {
  return first === undefined ? others : [first, ...others];
}

function firstOf([task]: readonly Task[]): Task {
  if (task === undefined) throw new Error('no change waits for delivery');
  return task;
}
