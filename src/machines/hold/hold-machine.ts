import { assign, type EventFromLogic, setup, transition } from 'xstate';
import type { Hold, HoldAccount, HoldOutcome } from '../domain/hold.ts';

/** Events of a granted call; every `at` is in epoch milliseconds. */
export type HoldEvent =
  /** The program receives that the call is approved. */
  | { type: 'hold.taken'; at: number }
  /** The program reports the end of the call. */
  | { type: 'hold.closed'; outcome: HoldOutcome }
  /** The time for the report is over. */
  | { type: 'hold.overdue' };

/** The transition that keeps the outcome of the call. */
const closing = {
  target: 'closed',
  actions: {
    type: 'keepOutcome',
    params: ({ event }: { event: Extract<HoldEvent, { type: 'hold.closed' }> }) => event.outcome,
  },
} as const;

type HoldContext = Pick<HoldAccount, 'releasedAt' | 'outcome'>;

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
    keepRelease: assign((_, at: number) => ({ releasedAt: at })),
    keepOutcome: assign((_, outcome: HoldOutcome) => ({ outcome })),
  },
  guards: {
    didNotRun: (_, { status }: HoldOutcome) => status === 'not_run',
  },
}).createMachine({
  id: 'hold',
  description:
    'A call that may run at another program. The program receives the call once, and reports one outcome. A call without an outcome in time is unaccounted for.',
  context: ({ input }) => input,
  initial: 'granted',
  states: {
    granted: {
      description:
        'The call is approved, and its program has not received that yet, so it can only report that the call did not run.',
      on: {
        'hold.taken': {
          target: 'released',
          actions: { type: 'keepRelease', params: ({ event }) => event.at },
        },
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
      description: 'The program did not report an outcome in time.',
      on: {
        'hold.closed': closing,
      },
    },
    closed: { description: 'The outcome is known.' },
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

/** Returns the time by which the outcome of a received call is due, in epoch milliseconds; `null` for none. */
export function accountDueAt(hold: Hold | undefined): number | null {
  const { account, outcomeWithin = 0 } = hold ?? {};
  if (account?.state !== 'released' || account.releasedAt === null) return null;
  return account.releasedAt + outcomeWithin;
}
