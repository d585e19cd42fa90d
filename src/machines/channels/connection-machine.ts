import { type AnyEventObject, assign, fromCallback, setup, stopChild } from 'xstate';
import { doubledPause } from '../back-off.ts';

/** Why a link is gone; the message shows neither secrets nor what was said over it. */
export interface LinkFault {
  message: string;
  /**
   * True when only a person can mend it, such as a token that was revoked; `maybe` for what looks like it and may pass,
   * such as another reader that is about to end.
   */
  lasting: boolean | 'maybe';
  /** Milliseconds that the service asks to be left alone for; `null` when it did not say. */
  retryAfter: number | null;
}

/** What a link tells of itself; `link` is the name it was opened under. */
export type LinkEvent =
  | { type: 'link.up'; link: string }
  /** The service will hang up soon, or the link gets old. */
  | { type: 'link.leaving'; link: string }
  | { type: 'link.down'; link: string; fault: LinkFault };

/** What happens to a connection. */
export type ConnectionEvent = LinkEvent | { type: 'connection.close' };

export interface LinkInput {
  /** The name that the link gives in everything it tells. */
  link: string;
}

export interface ConnectionContext {
  /** Links opened so far. */
  opened: number;
  /** The link that carries everything; `null` while there is none. */
  current: string | null;
  /** The link that is to take over; `null` while there is none. */
  next: string | null;
  /** Links in a row that did not last. */
  failures: number;
  /** Why the last one was lost; `null` once another is up. */
  fault: LinkFault | null;
}

/** The states of a connection as they are told. */
export type ConnectionState =
  | 'connecting'
  | 'connected'
  | 'draining'
  | 'backoff'
  | 'failed'
  | 'closed';

const longestPause = 60_000;

/** How long a service is left alone that a person has to mend, and the most it may ask for itself. */
const lastingPause = 300_000;

/** Faults in a row that may pass, after which they are taken to last: with their pauses a minute as a rule. */
const mostDoubted = 8;

/** Returns whether a fault is left to a person, after so many links in a row that did not last. */
function isLasting({ lasting }: LinkFault, failures: number): boolean {
  return lasting === 'maybe' ? failures >= mostDoubted : lasting;
}

/**
 * How long a service is left alone after links that did not last, in milliseconds: any part of a second,
 * doubled up to a minute, at least what the service asks for; five minutes when a person has to mend it.
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

/** Reads the state of a connection off the value of a snapshot. */
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

/** Names a guard that is given which link an event is about. */
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

/** Names the transitions for the loss of the link that carries everything. */
const whenLost = [
  { guard: about('isBroken'), target: '#connection.failed', actions: counted },
  { guard: about('isCurrent'), target: '#connection.backoff', actions: counted },
] as const;

/**
 * The way to a service that hangs up now and then. While one link is about to go, another is opened before
 * it is let go, and nothing that a link meets ends the connection.
 */
export const connectionMachine = setup({
  types: {
    context: {} as ConnectionContext,
    events: {} as ConnectionEvent,
  },
  actors: {
    /** A port: opens a link at once, tells LinkEvents, and closes it when it is stopped. Never throws. */
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
    /** A port: says from the context why a link was lost or never came up. */
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
    /** How long a link may take to come up. */
    patience: 30_000,
    /** How long a link has to be up before those that failed before it are forgotten. */
    settling: 60_000,
    /** A port: takes its part of chance from outside. */
    pause: ({ context }) => pauseAfter(context, 1),
  },
}).createMachine({
  id: 'connection',
  description:
    'The way to a service that hangs up now and then. When it says so beforehand, a second link is opened before the first is let go. A link that fails is opened again after a pause that grows with every failure; one that only a person can mend, or that lasts for a minute and looks like it, is tried again every five minutes.',
  context: { opened: 0, current: null, next: null, failures: 0, fault: null },
  entry: 'openCurrent',
  initial: 'connecting',
  on: { 'connection.close': { target: '.closed' } },
  states: {
    connecting: {
      description: 'A link is being opened; nothing can be said yet.',
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
          description: 'The link has been up for a while; what failed before it is forgotten.',
          entry: 'forgetFailures',
          on: {
            'link.leaving': { guard: about('isCurrent'), target: '#connection.draining.opening' },
          },
        },
      },
    },
    draining: {
      description: 'The link still carries everything, but it will go; another is to take over.',
      initial: 'opening',
      states: {
        opening: {
          description: 'The link that takes over is being opened.',
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
          description: 'The link that was to take over did not come up; it is opened again later.',
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
      after: { pause: { target: 'connecting', actions: 'openCurrent' } },
    },
    failed: {
      description: 'A person has to mend something; until then it is tried now and then.',
      entry: ['stopCurrent', 'forgetCurrent', 'noteFault'],
      after: { pause: { target: 'connecting', actions: 'openCurrent' } },
    },
    closed: {
      description: 'Nothing is opened any more.',
      type: 'final',
    },
  },
});

function nameOf({ opened }: ConnectionContext): string {
  return `link-${opened + 1}`;
}
