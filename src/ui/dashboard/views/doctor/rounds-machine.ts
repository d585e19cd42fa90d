import { assertEvent, assign, fromPromise, setup } from 'xstate';
import type { DoctorJson } from '../../../../http/wire/dashboard/doctor-json.ts';
import { sentenceOf } from '../../api/sentence-of.ts';

/** The results of an agent's checks, or the reason why they failed. */
export type Report = { kind: 'told'; told: DoctorJson } | { kind: 'failed'; problem: string };

type RoundsEvent =
  | { type: 'round.asked'; agents: readonly string[] }
  /** The user left, or stopped waiting. */
  | { type: 'round.stopped' };

interface RoundsContext {
  /** Agents still to be checked; the first one is being checked. */
  queue: readonly string[];
  reports: Readonly<Record<string, Report>>;
}

/** Checks agents one at a time, because each check needs a process. Leaving the state ends the check. */
export const roundsMachine = setup({
  types: { context: {} as RoundsContext, events: {} as RoundsEvent },
  actors: {
    /** Checks one agent; rejects with the sentence to display. */
    examine: fromPromise<DoctorJson, string>(() => Promise.resolve({ checks: [] })),
  },
  actions: {
    noteQueue: assign(({ event }) => {
      assertEvent(event, 'round.asked');
      return { queue: event.agents };
    }),
    noteReport: assign(({ context }, { report }: { report: Report }) => ({
      queue: context.queue.slice(1),
      reports: { ...context.reports, [context.queue[0] ?? '']: report },
    })),
    dropQueue: assign({ queue: [] }),
  },
  guards: { isOver: ({ context }) => context.queue.length === 0 },
}).createMachine({
  id: 'rounds',
  context: { queue: [], reports: {} },
  initial: 'resting',
  states: {
    resting: {
      description: 'Not started.',
      on: { 'round.asked': { target: 'turning', actions: 'noteQueue' } },
    },
    turning: {
      description: 'Between two checks.',
      always: [{ guard: 'isOver', target: 'resting' }, { target: 'checking' }],
    },
    checking: {
      description: 'Checking the first of the queue.',
      invoke: {
        src: 'examine',
        input: ({ context }) => context.queue[0] ?? '',
        onDone: {
          target: 'turning',
          actions: {
            type: 'noteReport',
            params: ({ event }) => ({ report: { kind: 'told', told: event.output } }),
          },
        },
        onError: {
          target: 'turning',
          actions: {
            type: 'noteReport',
            params: ({ event: { error } }) => ({
              report: {
                kind: 'failed',
                problem: sentenceOf(error),
              },
            }),
          },
        },
      },
      on: { 'round.stopped': { target: 'resting', actions: 'dropQueue' } },
    },
  },
});
