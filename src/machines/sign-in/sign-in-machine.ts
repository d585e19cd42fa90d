import { assertEvent, assign, fromPromise, setup } from 'xstate';
import { unfilledPort } from '../unfilled-port.ts';

/** An event of a browser sign-in. */
export type SignInEvent =
  /** The provider returned a code, which is exchanged for a token once. */
  | { type: 'callback.code'; parameters: string }
  /** The provider returned no code; the error is an OAuth error code, or empty. */
  | { type: 'callback.refused'; error: string }
  /** The user cancelled the sign-in. */
  | { type: 'sign-in.cancel' }
  /** An agent is being created with the token. */
  | { type: 'token.take' }
  /** Creating the agent failed. */
  | { type: 'token.return' };

export interface SignInContext {
  /** Error message as one sentence; `null` if there is none. */
  error: string | null;
}

const signIn = setup({
  types: { context: {} as SignInContext, events: {} as SignInEvent },
  actors: {
    /** Exchanges the code for a token and stores it; rejects with a one-sentence message. */
    exchange: fromPromise<void, { parameters: string }>(unfilledPort),
  },
  actions: {
    fail: assign((_, { error }: { error: string }) => ({ error })),
  },
  delays: { lifetime: 600_000 },
});

const expiry = {
  lifetime: {
    target: 'failed',
    actions: {
      type: 'fail',
      params: { error: 'the sign-in has expired; sign in again' },
    },
  },
} as const;

/** A callback that arrives after a cancel is ignored. */
const calledOff = { 'sign-in.cancel': { target: 'calledOff' } } as const;

/**
 * One browser sign-in to a provider. A callback is accepted once, a token is used for one agent, each state lasts at
 * most ten minutes, and the sign-in can be cancelled until an agent is created (docs/contract/dashboard.md).
 */
export const signInMachine = signIn.createMachine({
  id: 'sign-in',
  description:
    'One sign-in with a browser: the first callback is the only one that counts, its code is exchanged once, and the token is for one agent.',
  context: { error: null },
  initial: 'pending',
  states: {
    pending: {
      description: 'The person is at the provider.',
      after: expiry,
      on: {
        ...calledOff,
        'callback.code': { target: 'exchanging' },
        'callback.refused': {
          target: 'failed',
          actions: {
            type: 'fail',
            params: ({ event }) => ({
              error:
                event.error === 'access_denied'
                  ? 'the provider was not allowed to sign you in'
                  : 'the provider refused the sign-in; sign in again',
            }),
          },
        },
      },
    },
    exchanging: {
      description: 'The code is exchanged for a token.',
      after: expiry,
      on: calledOff,
      invoke: {
        src: 'exchange',
        input: ({ event }) => {
          assertEvent(event, 'callback.code');
          return { parameters: event.parameters };
        },
        onDone: { target: 'done' },
        onError: {
          target: 'failed',
          actions: {
            type: 'fail',
            params: ({ event }) => ({ error: (event.error as Error).message }),
          },
        },
      },
    },
    done: {
      description: 'The token is held for a new agent.',
      after: expiry,
      on: { ...calledOff, 'token.take': { target: 'taken' } },
    },
    taken: {
      description: 'The token is assigned to one agent.',
      after: expiry,
      on: { 'token.return': { target: 'done' } },
    },
    failed: { description: 'The sign-in failed; the error has the reason.', type: 'final' },
    calledOff: {
      description: 'The person called it off; a late callback counts no more.',
      type: 'final',
    },
  },
});
