import { assign, fromCallback, fromPromise, setup } from 'xstate';
import type { SessionJson } from '../../http/wire/approvals-page.ts';
import { sentenceOf } from '../dashboard/api/sentence-of.ts';
import type { Calls } from './approvals-client.ts';

export type PageEvent =
  | ({ type: 'calls.read' } & Calls)
  | { type: 'calls.failed'; problem: string }
  | { type: 'session.ended' }
  /** The idle time of the session starts again: it ends after `left` milliseconds. */
  | { type: 'session.renewed'; left: number }
  | { type: 'sign-out' }
  | { type: 'retry' };

interface PageContext {
  session: SessionJson | null;
  /** `null` until they are read. */
  calls: Calls | null;
  problem: string | null;
  /** Milliseconds that the session had left when it was renewed last; `null` if unknown. */
  left: number | null;
}

/** Milliseconds before the end of a session at which the page warns. */
const warning = 60_000;

/** The longest delay of a timer, in milliseconds. */
const longest = 2 ** 31 - 1;

/** The approvals page from its opening to the sign-out. A session that ends anywhere leads to the sign-in. */
export const pageMachine = setup({
  types: { context: {} as PageContext, events: {} as PageEvent },
  actors: {
    /** Returns the session; `null` for a person who has not signed in. */
    readSession: fromPromise<SessionJson | null>(() => Promise.resolve(null)),
    /** Sends the calls whenever they are read again. */
    follow: fromCallback<PageEvent>(() => undefined),
    /** Returns where the issuer ends its own session; `null` for nowhere. */
    signOut: fromPromise<string | null>(() => Promise.resolve(null)),
  },
  actions: {
    noteSession: assign((_, { session }: { session: SessionJson | null }) => ({ session })),
    noteCalls: assign((_, { waiting, decided, grants, delegations, unasked }: Calls) => ({
      calls: { waiting, decided, grants, delegations, unasked },
      problem: null,
    })),
    noteProblem: assign((_, { problem }: { problem: string }) => ({ problem })),
    noteLeft: assign((_, { left }: { left: number }) => ({ left })),
    forget: assign({ session: null, calls: null, problem: null, left: null }),
    /** Opens the sign-out of the issuer. */
    leave: (_, _params: { to: string | null }) => undefined,
  },
  delays: {
    untilWarning: ({ context: { left } }) =>
      left === null ? longest : Math.min(longest, Math.max(0, left - warning)),
  },
  guards: {
    hasSession: (_, { session }: { session: SessionJson | null }) => session !== null,
  },
}).createMachine({
  id: 'approvals-page',
  context: { session: null, calls: null, problem: null, left: null },
  initial: 'opening',
  states: {
    opening: {
      invoke: {
        src: 'readSession',
        onDone: [
          {
            guard: { type: 'hasSession', params: ({ event }) => ({ session: event.output }) },
            target: 'open',
            actions: { type: 'noteSession', params: ({ event }) => ({ session: event.output }) },
          },
          { target: 'signedOut' },
        ],
        onError: {
          target: 'failed',
          actions: {
            type: 'noteProblem',
            params: ({ event }) => ({ problem: sentenceOf(event.error) }),
          },
        },
      },
    },
    open: {
      invoke: { src: 'follow' },
      initial: 'calm',
      on: {
        'session.renewed': {
          target: '.calm',
          actions: { type: 'noteLeft', params: ({ event }) => event },
        },
        'calls.read': { actions: { type: 'noteCalls', params: ({ event }) => event } },
        'calls.failed': { actions: { type: 'noteProblem', params: ({ event }) => event } },
        'session.ended': { target: 'ended' },
        'sign-out': { target: 'signingOut' },
      },
      states: {
        calm: { after: { untilWarning: { target: 'ending' } } },
        ending: { description: 'The session ends within a minute unless the person acts.' },
      },
    },
    signingOut: {
      invoke: {
        src: 'signOut',
        onDone: {
          target: 'signedOut',
          actions: { type: 'leave', params: ({ event }) => ({ to: event.output }) },
        },
        onError: {
          target: 'open',
          actions: {
            type: 'noteProblem',
            params: ({ event }) => ({ problem: sentenceOf(event.error) }),
          },
        },
      },
      on: { 'session.ended': { target: 'signedOut' } },
    },
    failed: {
      description: 'The daemon did not answer.',
      on: { retry: { target: 'opening' } },
    },
    ended: { description: 'The session has expired or was ended elsewhere.', entry: 'forget' },
    signedOut: { entry: 'forget' },
  },
});
