import { assign, fromCallback, setup } from 'xstate';
import type { CallJson } from './approvals-client.ts';

export type CallEvent =
  | { type: 'call.read'; call: CallJson }
  /** The call does not wait any more, or is not the person's. */
  | { type: 'call.gone' }
  | { type: 'call.failed'; problem: string };

interface CallContext {
  /** As it was read last; `null` before. */
  call: CallJson | null;
  /** Why the last reading failed; `null` if it did not. */
  problem: string | null;
}

/** One opened call, read again and again while it waits. A reading that fails leaves the call shown, as out of date. */
export const callMachine = setup({
  types: { context: {} as CallContext, events: {} as CallEvent },
  actors: {
    /** Sends the call whenever it is read, until it is gone. */
    follow: fromCallback<CallEvent>(() => undefined),
  },
  actions: {
    noteCall: assign((_, { call }: { call: CallJson }) => ({ call, problem: null })),
    noteProblem: assign((_, { problem }: { problem: string }) => ({ problem })),
    forgetProblem: assign({ problem: null }),
  },
}).createMachine({
  id: 'call',
  context: { call: null, problem: null },
  initial: 'following',
  states: {
    following: {
      invoke: { src: 'follow' },
      initial: 'opening',
      on: {
        'call.read': {
          target: '.waiting',
          actions: { type: 'noteCall', params: ({ event }) => event },
        },
        'call.failed': { actions: { type: 'noteProblem', params: ({ event }) => event } },
      },
      states: {
        opening: { on: { 'call.gone': { target: '#call.missing' } } },
        waiting: { on: { 'call.gone': { target: '#call.over', actions: 'forgetProblem' } } },
      },
    },
    over: { description: 'The call was decided, or timed out; it stays shown.' },
    missing: { description: 'The call does not wait, or is not the person’s.' },
  },
});
