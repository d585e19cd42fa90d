import { assertEvent, assign, fromPromise, setup } from 'xstate';
import { unfilledPort } from '../unfilled-port.ts';

/** What came back from the provider by the browser. */
export type SignInEvent =
  /** With a code, which is exchanged for a token once. */
  | { type: 'callback.code'; parameters: string }
  /** Without one; the error is a word of the standard, or empty. */
  | { type: 'callback.refused'; error: string }
  /** The person wants it no more. */
  | { type: 'sign-in.cancel' }
  /** Somebody makes an agent with the token. */
  | { type: 'token.take' }
  /** The agent was not made after all. */
  | { type: 'token.return' };

export interface SignInContext {
  /** A sentence once it has failed; `null` before. */
  error: string | null;
}

const signIn = setup({
  types: { context: {} as SignInContext, events: {} as SignInEvent },
  actors: {
    /** Exchanges the code for a token, which it keeps; rejects with a sentence. */
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

/** What comes back later finds nobody. */
const calledOff = { 'sign-in.cancel': { target: 'calledOff' } } as const;

/**
 * One sign-in to a provider with a browser: a callback is taken once, a token is given to one agent, each state lasts
 * ten minutes at most, and until an agent is made it can be called off (docs/contract/dashboard.md).
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
      description: 'The token is kept for an agent that is to be made.',
      after: expiry,
      on: { ...calledOff, 'token.take': { target: 'taken' } },
    },
    taken: {
      description: 'An agent is made with the token, and no other.',
      after: expiry,
      on: { 'token.return': { target: 'done' } },
    },
    failed: { description: 'There is no token; the error says why.', type: 'final' },
    calledOff: {
      description: 'The person called it off; a late callback counts no more.',
      type: 'final',
    },
  },
});
