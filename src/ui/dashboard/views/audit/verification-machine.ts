import { assign, fromCallback, setup } from 'xstate';
import type { Culprit } from './culprit.ts';

/** What the verification of a whole log has found. */
export interface Outcome {
  events: number;
  signed: number;
  /** Signatures were checked and not only counted. */
  checked: boolean;
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

/** The verification of a whole log in the browser, from the click to what it found. */
export const verificationMachine = setup({
  types: { context: {} as VerificationContext, events: {} as VerificationEvent },
  actors: {
    /** Reads the log from its first line on and verifies it. */
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
  on: { 'verification.asked': { target: '.verifying', reenter: true, actions: 'forget' } },
  states: {
    idle: { description: 'Nobody has asked for it.' },
    verifying: {
      invoke: { src: 'verify' },
      on: {
        'verification.stopped': 'idle',
        'lines.read': { actions: { type: 'noteProgress', params: ({ event }) => event } },
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
    intact: { description: 'Every line is as it was written.' },
    broken: { description: 'A line was changed, added or removed.' },
    failed: { description: 'The log could not be read to its end.' },
  },
});
