import { assign, fromPromise, setup } from 'xstate';
import type { DecisionRequestJson } from '../../../../http/wire/dashboard/held-call-json.ts';
import { sentenceOf } from '../../api/sentence-of.ts';

export type Verb = 'approve' | 'reject';

/** Optional data of a decision. */
export interface DecisionDetails {
  note: string;
  email: string;
  token: string;
  /** The arguments to run instead; absent for those of the call. */
  args?: Record<string, unknown>;
  /** True if the decision shall be confirmed with a passkey. */
  passkey?: true;
  /** The later calls that an approval releases; absent for none. */
  remember?: DecisionRequestJson['remember'];
}

/** A decision to send; `answer` is that of the passkey, absent for none. */
export interface SentDecision {
  verb: Verb;
  details: DecisionDetails;
  answer?: object;
}

/** The answer to a request for a question to a passkey. */
export type QuestionOutcome = { kind: 'asked'; question: object } | Unsent;

/** The answer of the browser, in which a person confirms with a passkey. */
export type PasskeyOutcome = { kind: 'confirmed'; answer: object } | Unsent;

/** The reason why nothing was decided. */
type Unsent =
  /** A retry is possible, for example with another identity. */
  | { kind: 'refused'; problem: string }
  /** The call no longer pending for a decision. */
  | { kind: 'over'; problem: string };

/** The server's response to a decision. */
export type DecisionOutcome = { kind: 'resolved' | 'recorded' } | Unsent;

export type DecisionEvent = { type: 'decided'; verb: Verb; details: DecisionDetails };

interface DecisionContext {
  /** The decision that is or was sent last; an approval before the first one. */
  sent: SentDecision;
  problem: string | null;
}

type Outcome = DecisionOutcome | QuestionOutcome | PasskeyOutcome;

/** A page without passkeys. */
const noPasskey = () =>
  Promise.resolve({
    kind: 'refused' as const,
    problem: 'Passkeys are used on the approvals page. Decide there.',
  });

const isOver = {
  guard: {
    type: 'is',
    params: ({ event }: { event: { output: Outcome } }) => ({ kind: 'over', ...event }) as const,
  },
  target: 'over',
  actions: {
    type: 'noteProblem',
    params: ({ event }: { event: { output: Outcome } }) => event,
  },
} as const;

const isRefused = {
  target: 'ready',
  actions: {
    type: 'noteProblem',
    params: ({ event }: { event: { output: Outcome } }) => event,
  },
} as const;

const hasFailed = {
  target: 'ready',
  actions: {
    type: 'noteFailure',
    params: ({ event }: { event: { error: unknown } }) => event,
  },
} as const;

const whenDecided = [
  {
    guard: { type: 'needsPasskey', params: ({ event }: { event: DecisionEvent }) => event },
    target: 'asking',
    actions: { type: 'noteDecision', params: ({ event }: { event: DecisionEvent }) => event },
  },
  {
    target: 'sending',
    actions: { type: 'noteDecision', params: ({ event }: { event: DecisionEvent }) => event },
  },
] as const;

/**
 * One card of a held call, from its appearance to the server's response. It ignores decisions for the first half
 * second, because a click meant for the previous content could hit it. A decision with a passkey is sent once the
 * passkey has confirmed it.
 */
export const decisionMachine = setup({
  types: { context: {} as DecisionContext, events: {} as DecisionEvent },
  actors: {
    /** Sends the decision. Never rejects. */
    decide: fromPromise<DecisionOutcome, SentDecision>(() =>
      Promise.resolve({ kind: 'resolved' as const }),
    ),
    /** Requests a question about the decision for a passkey. Never rejects. */
    ask: fromPromise<QuestionOutcome, SentDecision>(noPasskey),
    /** Has the person answer the question with a passkey. Never rejects. */
    confirm: fromPromise<PasskeyOutcome, { question: object }>(noPasskey),
  },
  actions: {
    noteDecision: assign((_, { verb, details }: SentDecision) => ({
      sent: { verb, details },
      problem: null,
    })),
    noteAnswer: assign(({ context: { sent } }, { answer }: { answer: object }) => ({
      sent: { ...sent, answer },
    })),
    noteProblem: assign((_, { output }: { output: Outcome }) => ({
      problem: 'problem' in output ? output.problem : null,
    })),
    noteFailure: assign((_, { error }: { error: unknown }) => ({
      problem: sentenceOf(error),
    })),
  },
  guards: {
    is: (_, { kind, output }: { kind: Outcome['kind']; output: Outcome }) => output.kind === kind,
    needsPasskey: (_, { details }: DecisionEvent) => details.passkey === true,
  },
  delays: { settling: 500 },
}).createMachine({
  id: 'decision',
  context: {
    sent: { verb: 'approve', details: { note: '', email: '', token: '' } },
    problem: null,
  },
  initial: 'appearing',
  states: {
    appearing: {
      description: 'The card has just appeared; clicks are ignored for half a second.',
      after: { settling: 'ready' },
    },
    ready: {
      tags: 'open',
      on: { decided: whenDecided },
    },
    asking: {
      description: 'The server is asked for a question to a passkey about this decision.',
      tags: 'busy',
      invoke: {
        src: 'ask',
        input: ({ context }) => context.sent,
        onDone: [
          {
            guard: { type: 'is', params: ({ event }) => ({ kind: 'asked', ...event }) },
            target: 'confirming',
          },
          isOver,
          isRefused,
        ],
        onError: hasFailed,
      },
    },
    confirming: {
      description:
        'The browser asks the person for a passkey; a person who cancels can decide again.',
      tags: 'busy',
      invoke: {
        src: 'confirm',
        input: ({ event }) => ({ question: questionIn(event) }),
        onDone: [
          {
            guard: { type: 'is', params: ({ event }) => ({ kind: 'confirmed', ...event }) },
            target: 'sending',
            actions: {
              type: 'noteAnswer',
              params: ({ event: { output } }) => ({
                answer: output.kind === 'confirmed' ? output.answer : {},
              }),
            },
          },
          isOver,
          isRefused,
        ],
        onError: hasFailed,
      },
    },
    sending: {
      tags: 'busy',
      invoke: {
        src: 'decide',
        input: ({ context }) => context.sent,
        onDone: [
          {
            guard: { type: 'is', params: ({ event }) => ({ kind: 'resolved', ...event }) },
            target: 'resolved',
          },
          {
            guard: { type: 'is', params: ({ event }) => ({ kind: 'recorded', ...event }) },
            target: 'recorded',
          },
          isOver,
          isRefused,
        ],
        onError: hasFailed,
      },
    },
    recorded: {
      description: 'The approval is recorded; more approvals are needed.',
      tags: 'open',
      on: { decided: whenDecided },
    },
    resolved: { description: 'The call was approved or rejected.' },
    over: { description: 'Someone else decided, or the call timed out.' },
  },
});

/** Returns the question that the `ask` actor has returned. */
function questionIn(event: object): object {
  const { output } = event as { output: QuestionOutcome };
  return output.kind === 'asked' ? output.question : {};
}
