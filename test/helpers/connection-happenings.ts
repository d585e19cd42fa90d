import { vi } from 'vitest';
import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import type { LinkFault } from '../../src/machines/channels/connection-machine.ts';
import type { Happenings } from './chart-walk.ts';
import type { ManualClock } from './manual-clock.ts';
import { passPause } from './pass-pause.ts';
import { patient } from './patient.ts';

/** Links that are being opened, of which the newest waits for what a test says. */
export class Openings {
  #goOn: (() => void) | null = null;

  /** The opener of a link waits for it, as long as the test wants. */
  hold(signal?: AbortSignal | null): Promise<void> {
    return new Promise((goOn) => {
      this.#goOn = goOn;
      signal?.addEventListener('abort', () => goOn());
    });
  }

  /** Lets the newest one continue, once it exists. */
  async letGo(): Promise<void> {
    (await this.#newest())();
  }

  /** Leaves the newest where it is for ever, once there is one. */
  async leave(): Promise<void> {
    await this.#newest();
  }

  async #newest(): Promise<() => void> {
    const goOn = await vi.waitUntil(() => this.#goOn, { ...patient, interval: 2 });
    this.#goOn = null;
    return goOn;
  }
}

/** A real service behind a real connection; events that cannot happen with it are not listed here. */
export interface LinkedService {
  clock: ManualClock;
  actors: readonly AnyActorRef[];
  /** Each opening of a link is held there. */
  openings: Openings;
  /** Refuses the held link when it continues; true for a fault that only a person can fix. */
  refuse(isLasting: boolean): void;
  /** Breaks the link that is up. */
  breakOff(isLasting: boolean): void | Promise<void>;
  /** Lets a minute pass over a link that stays up, if time alone does not do. */
  settle?(): Promise<void>;
  stop(): void | Promise<void>;
}

/** One that says when it will hang up. */
export interface RenewingService extends LinkedService {
  /** Announces the end of the current link. */
  retire(): void;
  /** Accepts the held link, and announces its end instead of a greeting; resolves once that was received. */
  retireNew(): Promise<void>;
}

const isUp = (snapshot: AnyMachineSnapshot) =>
  snapshot.matches('connected') || snapshot.matches('draining');

const isOpening = (snapshot: AnyMachineSnapshot) =>
  snapshot.matches('connecting') || snapshot.matches({ draining: 'opening' });

const isPausing = (snapshot: AnyMachineSnapshot) =>
  ['backoff', 'failed', { draining: 'pausing' }].some((value) => snapshot.matches(value));

/** Returns whether a connection carries messages in its chart's state, as seen from outside. */
export const carries = (value: unknown): boolean =>
  !['connecting', 'backoff', 'failed', 'closed'].includes(value as string);

const opened = ({ context }: AnyMachineSnapshot): string => context.next ?? context.current;

const nameOf = ({ value }: AnyMachineSnapshot): string =>
  typeof value === 'string' ? value : Object.entries(value).flat().join('.');

const after = (delay: string) => (snapshot: AnyMachineSnapshot) => ({
  type: `xstate.after.${delay}.connection.${nameOf(snapshot)}`,
});

const down = (link: string, lasting: LinkFault['lasting']) => ({
  ...{ type: 'link.down', link },
  fault: { message: 'it', lasting, retryAfter: null },
});

/** What happens to every connection. */
export const ofEach: Happenings<LinkedService> = {
  'the service greets': {
    event: (snapshot) => ({ type: 'link.up', link: opened(snapshot) }),
    in: isOpening,
    happen: ({ openings }) => openings.letGo(),
  },
  'the service refuses': {
    event: (snapshot) => down(opened(snapshot), false),
    in: isOpening,
    happen: ({ openings, ...service }) => {
      service.refuse(false);
      return openings.letGo();
    },
  },
  'the service stays silent': {
    event: after('patience'),
    in: isOpening,
    async happen({ openings, clock }) {
      await openings.leave();
      clock.advance(30_000);
    },
  },
  'the link breaks': {
    event: ({ context }) => down(context.current, false),
    in: isUp,
    happen: (service) => service.breakOff(false),
  },
  'a minute passes': {
    event: after('settling'),
    in: (snapshot) => snapshot.matches({ connected: 'fresh' }),
    happen: ({ clock, settle = async () => clock.advance(60_000) }) => settle(),
  },
  'the pause ends': {
    event: after('pause'),
    in: isPausing,
    happen: ({ clock, actors }) => passPause(clock, actors),
  },
  'the agent stops': {
    event: { type: 'connection.close' },
    in: (snapshot) => !snapshot.matches('closed'),
    happen: (service) => service.stop(),
  },
};

/** What happens to one whose service can refuse it for good; `maybe` for a service that is doubted for a while. */
export function refusedForGood(lasting: true | 'maybe'): Happenings<LinkedService> {
  return {
    'the service refuses for good': {
      event: (snapshot) => down(opened(snapshot), lasting),
      in: isOpening,
      happen: ({ openings, ...service }) => {
        service.refuse(true);
        return openings.letGo();
      },
    },
    'the link breaks for good': {
      event: ({ context }) => down(context.current, lasting),
      in: isUp,
      happen: (service) => service.breakOff(true),
    },
  };
}

/** What happens to one whose service says when it will hang up. */
export const renewed: Happenings<RenewingService> = {
  'the service will hang up': {
    event: ({ context }) => ({ type: 'link.leaving', link: context.current }),
    in: isUp,
    happen: (service) => service.retire(),
  },
  'the service will hang up on the new link': {
    event: (snapshot) => ({ type: 'link.leaving', link: opened(snapshot) }),
    in: isOpening,
    happen: (service) => service.retireNew(),
  },
};
