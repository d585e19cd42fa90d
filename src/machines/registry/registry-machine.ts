import {
  type AnyActorRef,
  type DoneActorEvent,
  type ErrorActorEvent,
  fromCallback,
  setup,
  stopChild,
} from 'xstate';

/** A task's deadline is on disk; epoch milliseconds. */
export type DeadlineEvent = { type: 'deadline.known'; at: number };

export type RegistryEvent =
  | { type: 'task.rest'; ref: AnyActorRef }
  | { type: 'registry.accept' }
  | { type: 'registry.drain' }
  | DoneActorEvent<unknown, string>
  | ErrorActorEvent<unknown, string>;

/**
 * Supervises every live task. A failing task is removed on its own: no task's failure affects other tasks or the
 * daemon.
 */
export const registryMachine = setup({
  types: { events: {} as RegistryEvent, tags: {} as 'starting' | 'accepting' | 'draining' },
  actors: { watchDeadlines: fromCallback<DeadlineEvent>(() => undefined) },
  actions: {
    stopTask: stopChild((_, { ref }: { ref: AnyActorRef }) => ref),
    buryTask: (_, _broken: { actorId: string; error: unknown }) => undefined,
  },
}).createMachine({
  id: 'registry',
  description:
    'Supervises every live task. It accepts tasks except while it starts or drains, passivates parked tasks, and removes a crashed task without harm to others. One scheduler watches all deadlines.',
  initial: 'starting',
  invoke: { id: 'deadlines', src: 'watchDeadlines' },
  on: {
    'task.rest': { actions: { type: 'stopTask', params: ({ event }) => ({ ref: event.ref }) } },
    'xstate.error.actor.*': {
      actions: {
        type: 'buryTask',
        params: ({ event }) => ({ actorId: event.actorId, error: event.error }),
      },
    },
  },
  states: {
    starting: {
      description: 'Interrupted tasks are recovered; no task is accepted yet.',
      tags: 'starting',
      on: {
        'registry.accept': { target: 'accepting' },
        'registry.drain': { target: 'draining' },
      },
    },
    accepting: {
      description: 'New tasks are accepted.',
      tags: 'accepting',
      on: { 'registry.drain': { target: 'draining' } },
    },
    draining: {
      description: 'The daemon drains: no task starts.',
      tags: 'draining',
    },
  },
});
