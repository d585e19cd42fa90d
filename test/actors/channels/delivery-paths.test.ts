import { describe, expect } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import {
  type DeliveryFailure,
  type DeliveryInput,
  deliveryMachine,
} from '../../../src/machines/channels/delivery-machine.ts';
import { type Happenings, walkChart } from '../../helpers/chart-walk.ts';
import { asked, openDelivery, versionOf } from '../../helpers/held-delivery.ts';
import { passPause } from '../../helpers/pass-pause.ts';

type World = Awaited<ReturnType<typeof openDelivery>>;

const isSending = (snapshot: AnyMachineSnapshot) => snapshot.hasTag('sending');
const isAt = (version: number) => (snapshot: AnyMachineSnapshot) =>
  snapshot.context.latest.version === version;

const nameOf = ({ value }: AnyMachineSnapshot): string => Object.entries(value).flat().join('.');

const outcome = (outcomeOf: (isPosting: boolean) => object) => (snapshot: AnyMachineSnapshot) => ({
  type: `xstate.done.actor.0.approval-delivery.${nameOf(snapshot)}`,
  output: outcomeOf(snapshot.matches('posting')),
});

const failed = (fault: DeliveryFailure['fault']) =>
  outcome(() => ({ kind: 'failed', fault, retryAfter: null, reason: 'it', isDefect: false }));

const changed = (version: number) => ({ type: 'notice.changed', latest: versionOf(version) });

const happenings: Happenings<World> = {
  'the webhook takes it': {
    event: outcome((isPosting) =>
      isPosting ? { kind: 'posted', ref: { id: 'it' } } : { kind: 'updated' },
    ),
    in: isSending,
    happen: ({ answer }) => answer(204),
  },
  'the webhook breaks': {
    event: failed('later'),
    in: isSending,
    happen: ({ answer }) => answer(500),
  },
  'the webhook stays silent': {
    event: failed('later'),
    in: isSending,
    async happen({ leave, clock }) {
      await leave();
      clock.advance(10_000);
    },
  },
  'the webhook is wrong': {
    event: failed('target'),
    in: isSending,
    happen: ({ answer }) => answer(403),
  },
  'the webhook says that it will never do': {
    event: failed('message'),
    in: isSending,
    happen: ({ answer }) => answer(410),
  },
  'the pause ends': {
    event: (snapshot) => ({ type: `xstate.after.pause.approval-delivery.${nameOf(snapshot)}` }),
    in: (snapshot) => snapshot.hasTag('resting'),
    happen: ({ clock, actors }) => passPause(clock, actors),
  },
  'the hour ends': {
    event: { type: 'xstate.after.hour.approval-delivery.updating' },
    in: (snapshot) => snapshot.matches('updating'),
    async happen({ actors, leave, clock, givenUp }) {
      const { latest, triedSince } = actors.at(-1)?.getSnapshot().context ?? {};
      if (actors.at(-1)?.getSnapshot().hasTag('sending') === true) await leave();
      clock.advance(3_600_000);
      expect(givenUp).toEqual(latest.version > triedSince ? [] : [latest.notice]);
    },
  },
  'the approvers are reminded': {
    event: changed(1),
    in: isAt(0),
    happen: ({ change }) => change(1),
  },
  'nothing new is told': { event: changed(2), in: isAt(1), happen: ({ change }) => change(2) },
  'the call is approved': {
    event: changed(3),
    in: (snapshot) => !isAt(3)(snapshot),
    happen: ({ change }) => change(3),
  },
  'an old change is told late': {
    event: changed(0),
    in: (snapshot) => !isAt(0)(snapshot),
    happen: ({ change }) => change(0),
  },
};

/** The stored and reported state agrees with the state of the chart. */
function look({ kept, failures, actors }: World, { value }: AnyMachineSnapshot): void {
  const last = kept.at(-1);
  expect(last?.isClosed ?? false).toBe(value === 'closed');
  if (value === 'posted')
    expect(last?.version).toBe(actors.at(-1)?.getSnapshot().context.latest.version);
  if (Object.values(value).includes('resting')) expect(failures).not.toEqual([]);
}

const options = {
  fingerprint: ({ context }: AnyMachineSnapshot) => [
    ...[context.ref !== null, context.told?.version, context.latest.version],
    ...[context.sending.version, context.triedSince],
  ],
  look,
};

describe('the shortest paths of a delivery to a webhook', () => {
  walkChart(deliveryMachine, happenings, (actors) => openDelivery(actors, asked), {
    ...{ ...options, input: asked },
  });
});

describe('the shortest paths of a delivery to a webhook after a late start', () => {
  const names = ['the webhook takes it', 'the call is approved'];
  const some = Object.entries(happenings).filter(([name]) => names.includes(name));
  const { notice: told } = versionOf(0);
  const input: DeliveryInput = { ref: { id: 'it' }, told, latest: versionOf(1) };
  walkChart(deliveryMachine, Object.fromEntries(some), (actors) => openDelivery(actors, input), {
    ...{ ...options, input },
    passing: ['posting.sending', 'posting.resting', 'updating.resting'],
  });
});
