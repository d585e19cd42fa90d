import { assign, fromPromise, setup } from 'xstate';
import { sentenceOf } from '../../api/sentence-of.ts';

export type Verb = 'approve' | 'reject';

/** What a person adds to a decision. */
export interface DecisionDetails {
  note: string;
  email: string;
  token: string;
}

/** How the server answered. */
export type DecisionOutcome =
  | { kind: 'resolved' | 'recorded' }
  /** It can be tried again, as somebody else for example. */
  | { kind: 'refused'; problem: string }
  /** Nothing is left to decide. */
  | { kind: 'over'; problem: string };

export type DecisionEvent = { type: 'decided'; verb: Verb; details: DecisionDetails };

interface DecisionContext {
  verb: Verb;
  problem: string | null;
}

/**
 * One card of a call that waits, from when it appears to the server's answer. It takes no decision in its first half
 * second, as a click that was meant for what stood there before would hit it.
 */
export const decisionMachine = setup({
  types: { context: {} as DecisionContext, events: {} as DecisionEvent },
  actors: {
    /** Sends the decision. Never rejects. */
    decide: fromPromise<DecisionOutcome, { verb: Verb; details: DecisionDetails }>(() =>
      Promise.resolve({ kind: 'resolved' as const }),
    ),
  },
  actions: {
    noteVerb: assign((_, { verb }: { verb: Verb }) => ({ verb, problem: null })),
    noteProblem: assign((_, { output }: { output: DecisionOutcome }) => ({
      problem: 'problem' in output ? output.problem : null,
    })),
    noteFailure: assign((_, { error }: { error: unknown }) => ({
      problem: sentenceOf(error),
    })),
  },
  guards: {
    is: (_, { kind, output }: { kind: DecisionOutcome['kind']; output: DecisionOutcome }) =>
      output.kind === kind,
  },
  delays: { settling: 500 },
}).createMachine({
  id: 'decision',
  context: { verb: 'approve', problem: null },
  initial: 'appearing',
  states: {
    appearing: {
      description: 'The card has just appeared; a click here was meant for something else.',
      after: { settling: 'ready' },
    },
    ready: {
      tags: 'open',
      on: {
        decided: {
          target: 'sending',
          actions: { type: 'noteVerb', params: ({ event }) => event },
        },
      },
    },
    sending: {
      tags: 'busy',
      invoke: {
        src: 'decide',
        input: ({ event }) => event,
        onDone: [
          {
            guard: { type: 'is', params: ({ event }) => ({ kind: 'resolved', ...event }) },
            target: 'resolved',
          },
          {
            guard: { type: 'is', params: ({ event }) => ({ kind: 'recorded', ...event }) },
            target: 'recorded',
          },
          {
            guard: { type: 'is', params: ({ event }) => ({ kind: 'over', ...event }) },
            target: 'over',
            actions: { type: 'noteProblem', params: ({ event }) => event },
          },
          { target: 'ready', actions: { type: 'noteProblem', params: ({ event }) => event } },
        ],
        onError: {
          target: 'ready',
          actions: { type: 'noteFailure', params: ({ event }) => event },
        },
      },
    },
    recorded: {
      description: 'The approval counts; others are needed besides.',
      tags: 'open',
      on: {
        decided: {
          target: 'sending',
          actions: { type: 'noteVerb', params: ({ event }) => event },
        },
      },
    },
    resolved: { description: 'The call was released or refused.' },
    over: { description: 'Somebody else decided, or the time ran out.' },
  },
});
