import { type AnyEventObject, assign, fromCallback, setup, stopChild } from 'xstate';
import { doubledPause } from '../back-off.ts';

/** The reason why a link was lost. The message contains neither secrets nor transferred data. */
export interface LinkFault {
  message: string;
  /**
   * True if only an operator can fix the fault, such as a revoked token. `maybe` for a fault that looks permanent but
   * may pass, such as another reader that is about to end.
   */
  lasting: boolean | 'maybe';
  /** Delay in milliseconds requested by the service; `null` if there is none. */
  retryAfter: number | null;
}

/** An event of a link; `link` is the name under which it was opened. */
export type LinkEvent =
  | { type: 'link.up'; link: string }
  /** The service will close the link soon, or the link has reached its maximum age. */
  | { type: 'link.leaving'; link: string }
  | { type: 'link.down'; link: string; fault: LinkFault };

export type ConnectionEvent =
  | LinkEvent
  /** A reason for the fault is gone, so the pause ends now. */
  | { type: 'connection.retry' }
  | { type: 'connection.close' };

export interface LinkInput {
  /** The name of the link in all of its events. */
  link: string;
}

export interface ConnectionContext {
  /** Number of links opened so far. */
  opened: number;
  /** The link in use; `null` if there is none. */
  current: string | null;
  /** The link that will replace the current one; `null` if there is none. */
  next: string | null;
  /** Number of consecutive links that did not last. */
  failures: number;
  /** The reason why the last link was lost; `null` once another one is up. */
  fault: LinkFault | null;
}

/** The published states of a connection. */
export type ConnectionState =
  | 'connecting'
  | 'connected'
  | 'draining'
  | 'backoff'
  | 'failed'
  | 'closed';

const longestPause = 60_000;

/**
 * Delay in milliseconds before retrying a service that an operator must fix; also the maximum delay that a service may
 * request.
 */
const lastingPause = 300_000;

/**
 * Number of consecutive `maybe` faults after which they count as permanent; with the delays, usually about a minute.
 */
const mostDoubted = 8;

/** Returns true if a fault needs an operator, given the number of consecutive links that did not last. */
function isLasting({ lasting }: LinkFault, failures: number): boolean {
  return lasting === 'maybe' ? failures >= mostDoubted : lasting;
}

/**
 * Returns the delay in milliseconds after links that did not last: a random part of one second, doubled up to a minute,
 * and at least the delay that the service requests. Five minutes if an operator must fix the fault.
 *
 * @param chance from 0 to 1
 */
export function pauseAfter(
  { failures, fault }: Pick<ConnectionContext, 'failures' | 'fault'>,
  chance: number,
): number {
  if (fault !== null && isLasting(fault, failures)) return lastingPause;
  const most = doubledPause(failures, longestPause);
  return Math.max(Math.round(most * chance), Math.min(fault?.retryAfter ?? 0, lastingPause));
}

/** Maps the value of a snapshot to the connection state. */
export function connectionState(value: string | object): ConnectionState {
  return (typeof value === 'string' ? value : Object.keys(value)[0]) as ConnectionState;
}

const silence: LinkFault = {
  message: 'the service did not answer in time',
  lasting: false,
  retryAfter: null,
};

const refusal: LinkFault = {
  message: 'the service hung up at once',
  lasting: false,
  retryAfter: null,
};

/** Names a guard whose parameter is the event's link. */
const about = <Type extends string>(type: Type) => ({
  type,
  params: <Event>({ event }: { event: Event }) => event,
});

const counted = {
  type: 'countFailure',
  params: ({ event }: { event: { fault: LinkFault } }) => event.fault,
} as const;

const hungUp = { type: 'countFailure', params: refusal } as const;

const stayedSilent = { type: 'countFailure', params: silence } as const;

/** Transitions for the loss of the current link. */
const whenLost = [
  { guard: about('isBroken'), target: '#connection.failed', actions: counted },
  { guard: about('isCurrent'), target: '#connection.backoff', actions: counted },
] as const;

/**
 * A connection to a service that disconnects from time to time. Before a link expires, its replacement is opened. No
 * fault of a link ends the connection.
 */
export const connectionMachine = setup({
  types: {
    context: {} as ConnectionContext,
    events: {} as ConnectionEvent,
  },
  actors: {
    /** Port: opens a link immediately, sends LinkEvents, and closes the link when stopped. Never throws. */
    link: fromCallback<AnyEventObject, LinkInput>(() => undefined),
  },
  actions: {
    openCurrent: assign(({ context, spawn }) => {
      const link = nameOf(context);
      spawn('link', { id: link, input: { link } });
      return { opened: context.opened + 1, current: link };
    }),
    openNext: assign(({ context, spawn }) => {
      const link = nameOf(context);
      spawn('link', { id: link, input: { link } });
      return { opened: context.opened + 1, next: link };
    }),
    stopCurrent: stopChild(({ context }) => context.current ?? ''),
    forgetCurrent: assign({ current: null }),
    stopNext: stopChild(({ context }) => context.next ?? ''),
    forgetNext: assign({ next: null }),
    promoteNext: assign({ current: ({ context }) => context.next, next: null }),
    countFailure: assign(({ context }, fault: LinkFault) => ({
      failures: context.failures + 1,
      fault,
    })),
    forgetFailures: assign({ failures: 0 }),
    forgetFault: assign({ fault: null }),
    /** Port: reports from the context why a link was lost or never came up. */
    noteFault: () => undefined,
  },
  guards: {
    isCurrent: ({ context }, { link }: { link: string }) => link === context.current,
    isNext: ({ context }, { link }: { link: string }) => link === context.next,
    isBroken: ({ context }, { link, fault }: { link: string; fault: LinkFault }) =>
      link === context.current && isLasting(fault, context.failures + 1),
    isKnownBroken: ({ context: { current, fault, failures } }, { link }: { link: string }) =>
      link === current && fault !== null && isLasting(fault, failures),
  },
  delays: {
    /** Timeout in milliseconds for opening a link. */
    patience: 30_000,
    /** Milliseconds for which a link must be up before earlier failures are forgotten. */
    settling: 60_000,
    /** Port: supplies the random part. */
    pause: ({ context }) => pauseAfter(context, 1),
  },
}).createMachine({
  id: 'connection',
  description:
    'A connection to a service that disconnects now and then. On an announced disconnect a second link opens before the first closes. A failed link is reopened with exponential back-off; a link that needs a person is retried every five minutes.',
  context: { opened: 0, current: null, next: null, failures: 0, fault: null },
  entry: 'openCurrent',
  initial: 'connecting',
  on: { 'connection.close': { target: '.closed' } },
  states: {
    connecting: {
      description: 'A link is being opened; no message can be sent yet.',
      on: {
        'link.up': { guard: about('isCurrent'), target: 'connected' },
        'link.leaving': { guard: about('isCurrent'), target: 'backoff', actions: hungUp },
        'link.down': whenLost,
      },
      after: { patience: { target: 'backoff', actions: stayedSilent } },
    },
    connected: {
      description: 'One link is up and stays.',
      entry: 'forgetFault',
      initial: 'fresh',
      on: { 'link.down': whenLost },
      states: {
        fresh: {
          description:
            'The link has just come up; a service that hangs up on every new link is left alone for longer and longer.',
          on: {
            'link.leaving': {
              guard: about('isCurrent'),
              target: '#connection.draining.pausing',
              actions: hungUp,
            },
          },
          after: { settling: { target: 'settled' } },
        },
        settled: {
          description: 'The link is stable; the failure count is reset.',
          entry: 'forgetFailures',
          on: {
            'link.leaving': { guard: about('isCurrent'), target: '#connection.draining.opening' },
          },
        },
      },
    },
    draining: {
      description: 'The link still works but will close; a replacement is needed.',
      initial: 'opening',
      states: {
        opening: {
          description: 'The replacement link is being opened.',
          entry: 'openNext',
          on: {
            'link.up': {
              guard: about('isNext'),
              target: '#connection.connected',
              actions: ['stopCurrent', 'promoteNext'],
            },
            'link.leaving': { guard: about('isNext'), target: 'pausing', actions: hungUp },
            'link.down': [
              { guard: about('isNext'), target: 'pausing', actions: counted },
              {
                guard: about('isCurrent'),
                target: '#connection.connecting',
                actions: ['stopCurrent', 'promoteNext'],
              },
            ],
          },
          after: { patience: { target: 'pausing', actions: stayedSilent } },
        },
        pausing: {
          description: 'The replacement link failed; it is opened again later.',
          entry: ['stopNext', 'forgetNext', 'noteFault'],
          on: {
            'link.down': [
              { guard: about('isKnownBroken'), target: '#connection.failed' },
              { guard: about('isCurrent'), target: '#connection.backoff' },
            ],
          },
          after: { pause: { target: 'opening' } },
        },
      },
    },
    backoff: {
      description: 'The service is left alone for a while that grows with every failure.',
      entry: ['stopCurrent', 'forgetCurrent', 'noteFault'],
      on: { 'connection.retry': { target: 'connecting', actions: 'openCurrent' } },
      after: { pause: { target: 'connecting', actions: 'openCurrent' } },
    },
    failed: {
      description: 'An operator must fix something; retries are rare until then.',
      entry: ['stopCurrent', 'forgetCurrent', 'noteFault'],
      on: { 'connection.retry': { target: 'connecting', actions: 'openCurrent' } },
      after: { pause: { target: 'connecting', actions: 'openCurrent' } },
    },
    closed: {
      description: 'Closed for good.',
      type: 'final',
    },
  },
});

function nameOf({ opened }: ConnectionContext): string {
  return `link-${opened + 1}`;
}
