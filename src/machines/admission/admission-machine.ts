import { assign, emit, fromPromise, setup } from 'xstate';
import { unfilledPort } from '../unfilled-port.ts';
import type { AdmissionAnswer, AdmissionVerdict } from './admission-answer.ts';

/** A request asks for admission. */
export type AdmissionEvent = { type: 'admission.ask' };

/** The verdict for all waiting requests. The platform was asked for the first one only. */
export interface AdmissionAnswered {
  type: 'admission.answered';
  verdict: AdmissionVerdict;
}

/** The latest known verdict on new invocations. */
export type KnownAdmission = Omit<AdmissionVerdict, 'cached'>;

export interface AdmissionContext {
  known: KnownAdmission;
}

/** The verdict while the platform cannot be asked: requests are admitted (docs/contract/admission.md). */
export const unasked: KnownAdmission = {
  decision: 'admit',
  reason: '',
  scope: '',
  window: '',
  resetAt: '',
  fallback: true,
};

/** Validity of an answer in milliseconds from its arrival (docs/contract/admission.md). */
export const admissionWindow = 5_000;

/** An agent's admission state. The platform is asked by one request at a time, and at most once per window. */
export const admissionMachine = setup({
  types: {
    context: {} as AdmissionContext,
    events: {} as AdmissionEvent,
    emitted: {} as AdmissionAnswered,
  },
  actors: {
    askPlatform: fromPromise<AdmissionAnswer>(unfilledPort),
  },
  actions: {
    keepAnswer: assign((_, answer: AdmissionAnswer) => ({ known: { ...answer, fallback: false } })),
    keepFallback: assign({ known: unasked }),
    answer: emit(({ context: { known } }, { cached }: { cached: boolean }) => ({
      type: 'admission.answered' as const,
      verdict: { ...known, cached },
    })),
    /** Port: reports that the platform could not be asked. */
    noteFailure: (_, _failure: { error: unknown }) => undefined,
  },
  guards: { isDenied: (_, { decision }: AdmissionAnswer) => decision === 'deny' },
  delays: { window: admissionWindow },
}).createMachine({
  id: 'admission',
  description:
    'The admission state of an agent. One call to the platform is in flight at a time, and requests share it. Its answer is cached for a fixed window; a failed call admits for the same time.',
  context: { known: unasked },
  initial: 'cold',
  states: {
    cold: {
      description: 'No answer is cached; the next request calls the platform.',
      on: { 'admission.ask': { target: 'checking' } },
    },
    checking: {
      description: 'The platform is being called; requests wait.',
      invoke: {
        src: 'askPlatform',
        onDone: [
          {
            guard: { type: 'isDenied', params: ({ event }) => event.output },
            target: 'known.denied',
            actions: [
              { type: 'keepAnswer', params: ({ event }) => event.output },
              { type: 'answer', params: { cached: false } },
            ],
          },
          {
            target: 'known.admitted',
            actions: [
              { type: 'keepAnswer', params: ({ event }) => event.output },
              { type: 'answer', params: { cached: false } },
            ],
          },
        ],
        onError: {
          target: 'known.fallback',
          actions: [
            { type: 'noteFailure', params: ({ event }) => ({ error: event.error }) },
            'keepFallback',
            { type: 'answer', params: { cached: false } },
          ],
        },
      },
      // The pending answer covers this request too.
      on: { 'admission.ask': {} },
    },
    known: {
      description: 'Requests are answered from the cache until the window ends.',
      initial: 'admitted',
      after: { window: 'cold' },
      on: { 'admission.ask': { actions: { type: 'answer', params: { cached: true } } } },
      states: {
        admitted: { description: 'The platform admits.' },
        denied: { description: 'The platform denies.' },
        fallback: {
          description: 'The platform was unavailable, so requests are admitted.',
        },
      },
    },
  },
});
