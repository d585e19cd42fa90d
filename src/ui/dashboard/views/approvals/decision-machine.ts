import { assign, fromPromise, setup } from 'xstate';
import { sentenceOf } from '../../api/sentence-of.ts';

export type Verb = 'approve' | 'reject';

/** Optional data of a decision. */
export interface DecisionDetails {
  note: string;
  email: string;
  token: string;
  /** The arguments to run instead; absent for those of the call. */
  args?: Record<string, unknown>;
}

/** The server's response to a decision. */
export type DecisionOutcome =
  | { kind: 'resolved' | 'recorded' }
  /** A retry is possible, for example with another identity. */
  | { kind: 'refused'; problem: string }
  /** The call no longer pending for a decision. */
  | { kind: 'over'; problem: string };

export type DecisionEvent = { type: 'decided'; verb: Verb; details: DecisionDetails };

interface DecisionContext {
  verb: Verb;
  problem: string | null;
}

/**
 * One card of a held call, from its appearance to the server's response. It ignores decisions for the first half
 * second, because a click meant for the previous content could hit it.
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
      description: 'The card has just appeared; clicks are ignored for half a second.',
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
      description: 'The approval is recorded; more approvals are needed.',
      tags: 'open',
      on: {
        decided: {
          target: 'sending',
          actions: { type: 'noteVerb', params: ({ event }) => event },
        },
      },
    },
    resolved: { description: 'The call was approved or rejected.' },
    over: { description: 'Someone else decided, or the call timed out.' },
  },
});
