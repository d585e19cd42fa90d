import { assign, fromCallback, setup } from 'xstate';
import type { Culprit } from './culprit.ts';

/** The result of verifying a whole log. */
export interface Outcome {
  events: number;
  signed: number;
  /** True if signatures were verified and not only counted. */
  checked: boolean;
  /** Hash of the last line; `null` if the chain is broken. */
  head: string | null;
  /** Number of lines before and after the last checkpoint; `null` if there is none. */
  checkpoint: { count: number; after: number } | null;
  culprit: Culprit | null;
}

export type VerificationEvent =
  | { type: 'verification.asked' }
  | { type: 'verification.stopped' }
  | { type: 'lines.read'; done: number; total: number }
  | { type: 'log.verified'; outcome: Outcome }
  | { type: 'reading.failed'; problem: string };

interface VerificationContext {
  done: number;
  total: number;
  outcome: Outcome | null;
  problem: string | null;
}

const nothing: VerificationContext = { done: 0, total: 0, outcome: null, problem: null };

/** The verification of a whole log in the browser, from the click to the result. */
export const verificationMachine = setup({
  types: { context: {} as VerificationContext, events: {} as VerificationEvent },
  actors: {
    /** Reads the log from its first line and verifies it. */
    verify: fromCallback<VerificationEvent>(() => undefined),
  },
  actions: {
    forget: assign(nothing),
    noteProgress: assign((_, { done, total }: { done: number; total: number }) => ({
      done,
      total,
    })),
    noteOutcome: assign((_, { outcome }: { outcome: Outcome }) => ({ outcome })),
    noteProblem: assign((_, { problem }: { problem: string }) => ({ problem })),
  },
  guards: {
    isIntact: (_, { outcome }: { outcome: Outcome }) => outcome.culprit === null,
  },
}).createMachine({
  id: 'verification',
  context: nothing,
  initial: 'idle',
  on: { 'verification.asked': { target: '.running', reenter: true, actions: 'forget' } },
  states: {
    idle: { description: 'Verification was not requested.' },
    running: {
      invoke: { src: 'verify' },
      initial: 'reading',
      states: {
        reading: { description: 'Loads the length of the log and its keys.' },
        verifying: { description: 'Lines are received and verified.' },
      },
      on: {
        'verification.stopped': 'cancelled',
        'lines.read': {
          target: '.verifying',
          actions: { type: 'noteProgress', params: ({ event }) => event },
        },
        'log.verified': [
          {
            guard: { type: 'isIntact', params: ({ event }) => event },
            target: 'intact',
            actions: { type: 'noteOutcome', params: ({ event }) => event },
          },
          {
            target: 'broken',
            actions: { type: 'noteOutcome', params: ({ event }) => event },
          },
        ],
        'reading.failed': {
          target: 'failed',
          actions: { type: 'noteProblem', params: ({ event }) => event },
        },
      },
    },
    intact: { description: 'Every line is intact.' },
    broken: { description: 'A line was changed, added or removed.' },
    cancelled: { description: 'Stopped by the user; the rest is not verified.' },
    failed: { description: 'The log could not be read completely.' },
  },
});
