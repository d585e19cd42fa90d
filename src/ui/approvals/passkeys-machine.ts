import { assign, fromPromise, setup } from 'xstate';
import type { PasskeyJson } from '../../http/wire/approvals-page.ts';
import { sentenceOf } from '../dashboard/api/sentence-of.ts';

export type PasskeysEvent =
  | { type: 'person.came' }
  | { type: 'person.left' }
  | { type: 'add'; name: string }
  | { type: 'remove'; id: string }
  | { type: 'retry' };

interface PasskeysContext {
  passkeys: PasskeyJson[];
  problem: string | null;
}

const failed = {
  type: 'noteProblem',
  params: ({ event }: { event: { error: unknown } }) => ({ problem: sentenceOf(event.error) }),
} as const;

/** The passkeys of the person on the page. One change at a time; after each the list is read again. */
export const passkeysMachine = setup({
  types: { context: {} as PasskeysContext, events: {} as PasskeysEvent },
  actors: {
    read: fromPromise<PasskeyJson[]>(() => Promise.resolve([])),
    /** Has the person create a passkey with a name, and registers it. */
    add: fromPromise<void, { name: string }>(() => Promise.resolve()),
    remove: fromPromise<void, { id: string }>(() => Promise.resolve()),
  },
  actions: {
    notePasskeys: assign((_, { passkeys }: { passkeys: PasskeyJson[] }) => ({ passkeys })),
    noteProblem: assign((_, { problem }: { problem: string }) => ({ problem })),
    forgetProblem: assign({ problem: null }),
    forget: assign({ passkeys: [], problem: null }),
  },
}).createMachine({
  id: 'passkeys',
  context: { passkeys: [], problem: null },
  initial: 'signedOut',
  on: { 'person.left': { target: '.signedOut' } },
  states: {
    signedOut: { entry: 'forget', on: { 'person.came': { target: 'reading' } } },
    reading: {
      tags: 'busy',
      invoke: {
        src: 'read',
        onDone: {
          target: 'listed',
          actions: { type: 'notePasskeys', params: ({ event }) => ({ passkeys: event.output }) },
        },
        onError: { target: 'unread', actions: failed },
      },
    },
    unread: {
      description: 'The list could not be read.',
      on: { retry: { target: 'reading', actions: 'forgetProblem' } },
    },
    listed: {
      on: {
        add: { target: 'adding', actions: 'forgetProblem' },
        remove: { target: 'removing', actions: 'forgetProblem' },
      },
    },
    adding: {
      description: 'The browser asks the person for a new passkey.',
      tags: 'busy',
      invoke: {
        src: 'add',
        input: ({ event }) => ({ name: event.type === 'add' ? event.name : '' }),
        onDone: { target: 'reading' },
        onError: { target: 'listed', actions: failed },
      },
    },
    removing: {
      tags: 'busy',
      invoke: {
        src: 'remove',
        input: ({ event }) => ({ id: event.type === 'remove' ? event.id : '' }),
        onDone: { target: 'reading' },
        onError: { target: 'reading', actions: failed },
      },
    },
  },
});
