import { assign, fromPromise, setup } from 'xstate';
import type { ModelName } from '../domain/model-speaker.ts';
import { unfilledPort } from '../unfilled-port.ts';
import { type CallOutcome, type FailedCall, isPassing } from './model-call.ts';

/** A model of the chain, with the epoch milliseconds before which it must not be called. */
export interface Candidate extends ModelName {
  readyAt: number;
}

/** The input of one model turn: the chain in order, and the current time in epoch milliseconds. */
export interface FallbackInput {
  candidates: readonly Candidate[];
  now: number;
}

export interface FallbackContext {
  candidates: (Candidate & { tries: number })[];
  /** Index of the model called last; -1 before the first call. */
  current: number;
  /** Epoch milliseconds at which the last call or wait ended. */
  now: number;
  /** Epoch milliseconds after which no model is waited for. */
  giveUpAt: number;
  /** Index of the model that answered; `null` if none did. */
  answeredBy: number | null;
  /** Failed calls, oldest first. */
  failures: FailedCall[];
}

/** Maximum number of calls to one model per turn. */
const maximumTries = 3;

/** Maximum total milliseconds per turn spent waiting for a model to become available. */
const patience = 20_000;

/**
 * One model turn along a fallback chain (docs/contract/models.md). Calls the first available model. A transient failure
 * moves on to the next model. Any other failure ends the turn, as does a stream that broke after output was already
 * shown.
 */
export const fallbackMachine = setup({
  types: {
    input: {} as FallbackInput,
    context: {} as FallbackContext,
    output: {} as Pick<FallbackContext, 'answeredBy' | 'failures'>,
  },
  actors: {
    ask: fromPromise<CallOutcome, { index: number }>(unfilledPort),
  },
  actions: {
    take: assign(({ context }) => ({ current: readyOf(context) })),
    wakeUp: assign(({ context }) => ({ now: soonestOf(context) })),
    keepAnswerer: assign(({ context }) => ({ answeredBy: context.current })),
    keepFailure: assign(({ context }, outcome: CallOutcome) => {
      if (outcome.kind === 'answered') return {};
      const { failure } = outcome;
      return {
        now: failure.at,
        failures: [...context.failures, failure],
        candidates: context.candidates.map((candidate, index) =>
          index === context.current
            ? { ...candidate, readyAt: failure.readyAt, tries: candidate.tries + 1 }
            : candidate,
        ),
      };
    }),
  },
  guards: {
    someoneIsReady: ({ context }) => readyOf(context) >= 0,
    someoneWillBeReady: ({ context }) => soonestOf(context) <= context.giveUpAt,
    hasAnswered: (_, { kind }: CallOutcome) => kind === 'answered',
    mayAskAgain: (_, outcome: CallOutcome) =>
      outcome.kind === 'failed' && isPassing(outcome.failure.fault) && !outcome.failure.hasSpoken,
  },
  delays: {
    untilReady: ({ context }) => Math.max(0, soonestOf(context) - context.now),
  },
}).createMachine({
  id: 'fallback',
  description:
    'One model turn along a chain of fallbacks. The first model that is not resting is called. A transient failure rests that model and moves to the next; any other failure ends the turn, and so does a stream that breaks after its text was shown.',
  context: ({ input: { candidates, now } }) => ({
    candidates: candidates.map((candidate) => ({ ...candidate, tries: 0 })),
    current: -1,
    now,
    giveUpAt: now + patience,
    answeredBy: null,
    failures: [],
  }),
  initial: 'choosing',
  states: {
    choosing: {
      description: 'Selects the first available model.',
      always: [
        { guard: 'someoneIsReady', target: 'asking', actions: 'take' },
        { guard: 'someoneWillBeReady', target: 'waiting' },
        { target: 'failed' },
      ],
    },
    waiting: {
      description: 'Every model is left alone, and one of them not for long.',
      after: { untilReady: { target: 'choosing', actions: 'wakeUp' } },
    },
    asking: {
      description: 'The model responds; leaving this state closes its connection.',
      invoke: {
        src: 'ask',
        input: ({ context }) => ({ index: context.current }),
        onDone: [
          {
            guard: { type: 'hasAnswered', params: ({ event }) => event.output },
            target: 'answered',
            actions: 'keepAnswerer',
          },
          {
            guard: { type: 'mayAskAgain', params: ({ event }) => event.output },
            target: 'choosing',
            actions: { type: 'keepFailure', params: ({ event }) => event.output },
          },
          {
            target: 'failed',
            actions: { type: 'keepFailure', params: ({ event }) => event.output },
          },
        ],
      },
    },
    answered: { description: 'The model has responded.', type: 'final' },
    failed: { description: 'No model has responded.', type: 'final' },
  },
  output: ({ context: { answeredBy, failures } }) => ({ answeredBy, failures }),
});

/** Returns the index of the first available model; -1 if there is none. */
function readyOf({ candidates, now }: FallbackContext): number {
  return candidates.findIndex(({ readyAt, tries }) => tries < maximumTries && readyAt <= now);
}

/**
 * Returns the epoch milliseconds at which the next model is available; infinite if every model has reached its maximum
 * number of calls.
 */
function soonestOf({ candidates }: FallbackContext): number {
  const times = candidates.filter(({ tries }) => tries < maximumTries);
  return Math.min(...times.map(({ readyAt }) => readyAt));
}
