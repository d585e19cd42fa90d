import { assign, type EventFromLogic, setup, transition } from 'xstate';
import type { Hold, HoldAccount, HoldOutcome, Withdrawal } from '../domain/hold.ts';

/** Events of a granted call; every `at` is in epoch milliseconds. */
export type HoldEvent =
  /** The program receives that the call is approved. */
  | { type: 'hold.taken'; at: number; claim?: string | undefined }
  /** The program reports the end of the call. */
  | { type: 'hold.closed'; outcome: HoldOutcome }
  /** The time for the next step of the program is over. */
  | { type: 'hold.overdue' }
  /** The policy in force no longer allows the approved call. */
  | { type: 'hold.forbidden'; reason: string }
  /** The store is older than the call may be: its program may have received the call since. */
  | { type: 'hold.restored' };

/** The transition that keeps the outcome of the call. */
const closing = {
  target: 'closed',
  actions: {
    type: 'keepOutcome',
    params: ({ event }: { event: Extract<HoldEvent, { type: 'hold.closed' }> }) => event.outcome,
  },
} as const;

type HoldContext = Omit<HoldAccount, 'state'>;

/** The reason of an approved call that its program did not fetch. */
const notFetched =
  'the call was approved, and its program did not fetch it in time; ask again with another key';

/**
 * The use of one granted call by the program that runs it. Only one outcome counts; a late outcome still counts, but
 * the call stays marked in the log as unaccounted for.
 */
export const holdMachine = setup({
  types: {
    context: {} as HoldContext,
    input: {} as HoldContext,
    events: {} as HoldEvent,
  },
  actions: {
    keepRelease: assign((_, { at, claim }: Extract<HoldEvent, { type: 'hold.taken' }>) => ({
      releasedAt: at,
      ...(claim === undefined ? {} : { claim }),
    })),
    withdraw: assign((_, withdrawn: Withdrawal) => ({ withdrawn })),
    keepOutcome: assign((_, outcome: HoldOutcome) => ({ outcome })),
  },
  guards: {
    didNotRun: (_, { status }: HoldOutcome) => status === 'not_run',
  },
}).createMachine({
  id: 'hold',
  description:
    'A call that may run at another program. The program receives the call once, and reports one outcome. An approved call that is not fetched in time, or that the policy no longer allows, may not run. A call without an outcome in time is unaccounted for.',
  context: ({ input }) => input,
  initial: 'granted',
  states: {
    granted: {
      description:
        'The call is approved, and its program has not received that yet, so it can only report that the call did not run.',
      on: {
        'hold.taken': {
          target: 'released',
          actions: { type: 'keepRelease', params: ({ event }) => event },
        },
        'hold.overdue': {
          target: 'withdrawn',
          actions: { type: 'withdraw', params: { status: 'expired', reason: notFetched } },
        },
        'hold.forbidden': {
          target: 'withdrawn',
          actions: {
            type: 'withdraw',
            params: ({ event }) => ({ status: 'denied', reason: event.reason }),
          },
        },
        'hold.restored': 'unaccounted',
        'hold.closed': {
          ...closing,
          guard: { type: 'didNotRun', params: ({ event }) => event.outcome },
        },
      },
    },
    released: {
      description: 'The program may run the call.',
      on: {
        'hold.closed': closing,
        'hold.overdue': 'unaccounted',
      },
    },
    unaccounted: {
      description:
        'The program did not report an outcome in time, or may have received the call in a time that a restored store lacks.',
      on: {
        'hold.closed': closing,
      },
    },
    closed: { description: 'The outcome is known.' },
    withdrawn: { description: 'The approval was never used, and the call may not run.' },
  },
});

/** Returns the account of a granted call after an event; the same object if the event changes nothing. */
export function accountAfter(
  account: HoldAccount,
  event: EventFromLogic<typeof holdMachine>,
): HoldAccount {
  const { state: value, ...context } = account;
  const before = holdMachine.resolveState({ value, context });
  const [after] = transition(holdMachine, before, event);
  if (after.value === before.value) return account;
  return { state: after.value, ...after.context };
}

/**
 * Returns the time by which the program fetches an approved call, or reports the outcome of a received one, in epoch
 * milliseconds; `null` for none.
 */
export function accountDueAt(hold: Hold | undefined): number | null {
  if (hold?.account === undefined) return null;
  const { state, grantedAt, releasedAt } = hold.account;
  if (state === 'granted') return grantedAt + hold.releaseWithin;
  return state === 'released' && releasedAt !== null ? releasedAt + hold.outcomeWithin : null;
}
