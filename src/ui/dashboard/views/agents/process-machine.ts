import { assign, fromPromise, setup } from 'xstate';
import { sentenceOf } from '../../api/sentence-of.ts';

export type ProcessVerb = 'start' | 'stop' | 'restart';

export type ProcessEvent =
  /** `waiting` is true if calls are waiting in the agent. */
  | { type: 'asked'; verb: ProcessVerb; needsPassphrase: boolean; waiting: boolean }
  | { type: 'end.confirmed'; needsPassphrase: boolean }
  | { type: 'end.dropped' }
  | { type: 'passphrase.given'; passphrase: string }
  | { type: 'passphrase.refused' };

interface ProcessContext {
  verb: ProcessVerb;
  /** The reason why the last attempt failed, in the server's own words. */
  problem: string | null;
}

/** Thrown by the port `send` if the server needs another passphrase. */
export class PassphraseNeeded extends Error {}

/** A start ends no calls, and a stop needs no secrets. */
const asksPassphrase = {
  type: 'asksPassphrase',
  params: ({
    context,
    event,
  }: {
    context: ProcessContext;
    event: { verb?: ProcessVerb; needsPassphrase: boolean };
  }) => ({ needsPassphrase: event.needsPassphrase && (event.verb ?? context.verb) !== 'stop' }),
} as const;

/**
 * One button of an agent's card, from the click to the server's response. A passphrase is passed from the event to the
 * request and never stored.
 */
export const processMachine = setup({
  types: { context: {} as ProcessContext, events: {} as ProcessEvent },
  actors: {
    /** Sends the request. Throws PassphraseNeeded, or an error with the server's message. */
    send: fromPromise<void, { verb: ProcessVerb; passphrase: string | null }>(() =>
      Promise.resolve(),
    ),
  },
  actions: {
    noteVerb: assign((_, { verb }: { verb: ProcessVerb }) => ({ verb, problem: null })),
    noteProblem: assign((_, { error }: { error: unknown }) => ({
      problem: sentenceOf(error),
    })),
    forgetProblem: assign({ problem: null }),
  },
  guards: {
    asksPassphrase: (_, { needsPassphrase }: { needsPassphrase: boolean }) => needsPassphrase,
    endsCalls: (_, { verb, waiting }: { verb: ProcessVerb; waiting: boolean }) =>
      waiting && verb !== 'start',
    wantsPassphrase: (_, { error }: { error: unknown }) => error instanceof PassphraseNeeded,
  },
}).createMachine({
  id: 'process',
  context: { verb: 'start', problem: null },
  initial: 'idle',
  states: {
    idle: {
      description: 'Idle, or the last request was answered.',
      on: {
        asked: [
          {
            guard: { type: 'endsCalls', params: ({ event }) => event },
            target: 'confirming',
            actions: { type: 'noteVerb', params: ({ event }) => event },
          },
          {
            guard: asksPassphrase,
            target: 'askingPassphrase',
            actions: { type: 'noteVerb', params: ({ event }) => event },
          },
          {
            target: 'sending',
            actions: { type: 'noteVerb', params: ({ event }) => event },
          },
        ],
      },
    },
    confirming: {
      description: 'Confirmation shows the effect on waiting calls. Nothing has happened yet.',
      on: {
        'end.confirmed': [{ guard: asksPassphrase, target: 'askingPassphrase' }, 'sending'],
        'end.dropped': 'idle',
      },
    },
    askingPassphrase: {
      description: 'The passphrase of the secrets is requested.',
      on: {
        'passphrase.given': { target: 'unlocking', actions: 'forgetProblem' },
        'passphrase.refused': { target: 'idle', actions: 'forgetProblem' },
      },
    },
    unlocking: {
      description: 'The server checks the passphrase; the dialog stays open until it responds.',
      tags: 'busy',
      on: { 'passphrase.refused': 'idle' },
      invoke: {
        src: 'send',
        input: ({ context, event }) => ({
          verb: context.verb,
          passphrase: event.type === 'passphrase.given' ? event.passphrase : null,
        }),
        onDone: 'idle',
        onError: [
          {
            guard: { type: 'wantsPassphrase', params: ({ event }) => event },
            target: 'askingPassphrase',
            actions: { type: 'noteProblem', params: ({ event }) => event },
          },
          { target: 'idle', actions: { type: 'noteProblem', params: ({ event }) => event } },
        ],
      },
    },
    sending: {
      tags: 'busy',
      invoke: {
        src: 'send',
        input: ({ context }) => ({ verb: context.verb, passphrase: null }),
        onDone: 'idle',
        onError: [
          {
            guard: { type: 'wantsPassphrase', params: ({ event }) => event },
            target: 'askingPassphrase',
          },
          { target: 'idle', actions: { type: 'noteProblem', params: ({ event }) => event } },
        ],
      },
    },
  },
});
