import { assign, fromCallback, fromPromise, sendParent, setup } from 'xstate';
import type {
  SignInStartedJson,
  SignInStatusJson,
} from '../../../../http/wire/dashboard/wizard-json.ts';

export type BrowserSignInEvent =
  | { type: 'key.choose' }
  | { type: 'browser.choose' }
  | { type: 'sign-in.begin'; provider: string }
  /** The provider's page did not open, or was closed. */
  | { type: 'page.open' }
  | { type: 'sign-in.cancel' }
  /** The server's status of the sign-in. */
  | { type: 'status.told'; status: SignInStatusJson };

export interface BrowserSignInContext {
  /** The started sign-in; `null` if there is none. */
  started: SignInStartedJson | null;
  /** The reason of the failure. */
  problem: string | null;
}

/** Reports the sign-in to the agent wizard: its state, or an empty text once it is no longer valid. */
export interface SessionKept {
  type: 'session.keep';
  session: string;
}

/**
 * How one agent gets its API key: typed by the user, or through a browser sign-in at the provider in a separate tab.
 * The page receives the result only from the server and never sees the token (docs/contract/dashboard.md).
 */
export const browserSignInMachine = setup({
  types: {
    context: {} as BrowserSignInContext,
    events: {} as BrowserSignInEvent,
    tags: {} as 'unfinished',
  },
  actors: {
    /** Starts a sign-in. Rejects with a message. */
    start: fromPromise<SignInStartedJson, { provider: string }>(() =>
      Promise.reject(new Error('unstarted')),
    ),
    /** Sends `status.told` with the current status, and again whenever it may have changed. */
    follow: fromCallback<BrowserSignInEvent, { state: string }>(() => undefined),
  },
  actions: {
    openPage: (_, _params: { url: string }) => undefined,
    /** Cancels it at the server, so that a later callback has no effect. */
    callOff: (_, _params: { state: string }) => undefined,
    keepStarted: assign((_, { started }: { started: SignInStartedJson }) => ({ started })),
    forget: assign({ started: null, problem: null }),
    noteProblem: assign((_, { problem }: { problem: string }) => ({ problem })),
    tellSession: sendParent(
      (_, { session }: { session: string }): SessionKept => ({
        type: 'session.keep',
        session,
      }),
    ),
  },
  guards: {
    hasStatus: (_, { is, status }: { is: string; status: SignInStatusJson['status'] }) =>
      is === status,
  },
}).createMachine({
  id: 'browser-sign-in',
  description: 'API key, or a sign-in to the provider in its own tab.',
  context: { started: null, problem: null },
  initial: 'keyed',
  states: {
    keyed: {
      description: 'API key, typed or from the environment.',
      on: { 'browser.choose': 'browser' },
    },
    browser: {
      description: 'Sign-in by browser is selected.',
      initial: 'offered',
      on: { 'key.choose': 'keyed' },
      states: {
        offered: {
          description: 'Not started.',
          tags: 'unfinished',
          entry: 'forget',
          on: { 'sign-in.begin': 'starting' },
        },
        starting: {
          description: 'Requesting the sign-in address.',
          tags: 'unfinished',
          entry: 'forget',
          invoke: {
            src: 'start',
            input: ({ event }) => ({
              provider: event.type === 'sign-in.begin' ? event.provider : '',
            }),
            onDone: {
              target: 'begun',
              actions: [
                { type: 'keepStarted', params: ({ event }) => ({ started: event.output }) },
                { type: 'openPage', params: ({ event }) => event.output },
              ],
            },
            onError: {
              target: 'failed',
              actions: {
                type: 'noteProblem',
                params: ({ event }) => ({ problem: (event.error as Error).message }),
              },
            },
          },
          on: { 'sign-in.cancel': 'offered' },
        },
        begun: {
          description: 'The server holds the sign-in; its state is polled on request.',
          initial: 'pending',
          invoke: { src: 'follow', input: ({ context }) => ({ state: stateOf(context) }) },
          on: {
            'status.told': {
              guard: {
                type: 'hasStatus',
                params: ({ event }) => ({ is: 'failed', status: event.status.status }),
              },
              target: 'failed',
              actions: {
                type: 'noteProblem',
                params: ({ event }) => ({ problem: event.status.error ?? 'it has failed' }),
              },
            },
            'sign-in.cancel': {
              target: 'offered',
              actions: {
                type: 'callOff',
                params: ({ context }) => ({ state: stateOf(context) }),
              },
            },
            'key.choose': {
              target: '#browser-sign-in.keyed',
              actions: {
                type: 'callOff',
                params: ({ context }) => ({ state: stateOf(context) }),
              },
            },
          },
          states: {
            pending: {
              description: 'The user is at the provider.',
              tags: 'unfinished',
              on: {
                'status.told': {
                  guard: {
                    type: 'hasStatus',
                    params: ({ event }) => ({ is: 'done', status: event.status.status }),
                  },
                  target: 'done',
                },
                'page.open': {
                  actions: {
                    type: 'openPage',
                    params: ({ context }) => ({ url: context.started?.url ?? '' }),
                  },
                },
              },
            },
            done: {
              description: 'The server has a token for the agent.',
              entry: {
                type: 'tellSession',
                params: ({ context }) => ({ session: stateOf(context) }),
              },
              exit: { type: 'tellSession', params: { session: '' } },
            },
          },
        },
        failed: {
          description: 'Failed; the problem has the reason.',
          tags: 'unfinished',
          on: { 'sign-in.begin': 'starting' },
        },
      },
    },
  },
});

function stateOf({ started }: BrowserSignInContext): string {
  return started?.state ?? '';
}
