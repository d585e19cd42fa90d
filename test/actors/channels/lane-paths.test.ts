import type { OutgoingHttpHeaders } from 'node:http';
import { describe, expect, onTestFinished } from 'vitest';
import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import { Lanes } from '../../../src/actors/channels/lanes.ts';
import { callAdapter, failureOf } from '../../../src/actors/channels/live-delivery.ts';
import { laneMachine } from '../../../src/machines/channels/lane-machine.ts';
import { aNotice } from '../../helpers/approval-notices.ts';
import { type Happenings, walkChart } from '../../helpers/chart-walk.ts';
import { heldTarget, openHeldWebhook } from '../../helpers/held-webhook.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { passPause } from '../../helpers/pass-pause.ts';

/** The lane of a webhook that answers when a test lets it, with so many messages in progress from the start. */
async function openLane(actors: readonly AnyActorRef[], mostOfOne: number, underWay: number[]) {
  const clock = new ManualClock(0);
  const { adapter, answer } = await openHeldWebhook(clock);
  const lanes = new Lanes({ clock, most: 16, mostOfOne, onRoom: () => lanes.letIn() });
  const sent = new Map<number, { outcome: Promise<unknown>; gone: AbortController }>();
  const send = (position: number) => {
    const gone = new AbortController();
    const ticket = { lane: 'a', position, expiresAt: 0, isQuarantined: false };
    const notice = aNotice({ target: heldTarget, deferralId: `call-${position}` });
    const outcome = lanes.run(ticket, gone.signal, () =>
      callAdapter(clock, gone.signal, async (within) => {
        const ref = await adapter.deliver(notice, within);
        return { kind: 'posted', ref } as const;
      }).catch((error: unknown) => failureOf('webhook', error)),
    );
    sent.set(position, { outcome, gone });
  };
  /** Ends what is under way, as nobody waits for it any more. */
  const leaveAll = async () => {
    for (const { gone } of sent.values()) gone.abort();
    await Promise.allSettled([...sent.values()].map(({ outcome }) => outcome));
    sent.clear();
  };
  /** Sends a message, unless it is under way, and has it answered; resolves with what that came to. */
  const answered = async (position: number, status: number, headers?: OutgoingHttpHeaders) => {
    if (!sent.has(position)) send(position);
    await answer(`call-${position}`, status, headers);
    const outcome = await sent.get(position)?.outcome;
    sent.delete(position);
    return outcome;
  };
  onTestFinished(async () => {
    await leaveAll();
    lanes.stop();
  });
  for (const position of underWay) send(position);
  // A lane is there once a message was on it.
  await answered(0, 204);
  return { actors, clock, lanes, mostOfOne, leaveAll, answered };
}

type World = Awaited<ReturnType<typeof openLane>>;

const isNotShut = (snapshot: AnyMachineSnapshot) => !snapshot.matches('shut');

const taken = { type: 'message.taken' };
const refused = (message: number, retryAfter: number | null = null) => ({
  ...{ type: 'message.refused', message, retryAfter },
});

const happenings: Happenings<World> = {
  'the target takes a message': {
    event: taken,
    in: isNotShut,
    happen: async ({ answered }) =>
      expect(await answered(4, 204)).toMatchObject({ kind: 'posted' }),
  },
  'the target says of a message that it will never do': {
    event: taken,
    in: isNotShut,
    happen: async ({ answered }) =>
      expect(await answered(4, 410)).toMatchObject({ fault: 'message' }),
  },
  'the target refuses the first message': {
    event: refused(1),
    in: isNotShut,
    happen: async ({ answered }) =>
      expect(await answered(1, 500)).toMatchObject({ fault: 'later' }),
  },
  'the target refuses the second message': {
    event: refused(2),
    in: isNotShut,
    happen: async ({ answered }) =>
      expect(await answered(2, 403)).toMatchObject({ fault: 'target' }),
  },
  'the target asks for time': {
    event: refused(3, 30_000),
    in: isNotShut,
    happen: async ({ answered }) =>
      expect(await answered(3, 429, { 'retry-after': '30' })).toMatchObject({ retryAfter: 30_000 }),
  },
  'the pause ends': {
    event: { type: 'xstate.after.pause.approval-lane.shut' },
    in: (snapshot) => snapshot.matches('shut'),
    async happen({ clock, actors, leaveAll }) {
      await leaveAll();
      passPause(clock, actors);
    },
  },
  'the adapter is up again': { event: taken, happen: ({ lanes }) => lanes.clear() },
};

/** What becomes in a pause of messages that were under way when it began. */
const duringPause: Happenings<World> = {
  'the target takes a message that was under way': {
    event: taken,
    in: (snapshot) => snapshot.matches('shut'),
    happen: async ({ answered }) =>
      expect(await answered(5, 204)).toMatchObject({ kind: 'posted' }),
  },
  'the target refuses a message that was under way': {
    event: refused(6),
    in: (snapshot) => snapshot.matches('shut'),
    happen: async ({ answered }) =>
      expect(await answered(6, 500)).toMatchObject({ fault: 'later' }),
  },
};

/** The number of concurrent messages in a lane's state. */
const widthIn = (value: unknown, mostOfOne: number): number =>
  value === 'shut' ? 0 : value === 'probing' ? 1 : mostOfOne;

const doubted = ({ context }: AnyMachineSnapshot): unknown => context.doubted;

const look = ({ lanes, mostOfOne }: World, { value }: AnyMachineSnapshot) =>
  expect(lanes.width('a')).toBe(widthIn(value, mostOfOne));

describe('the shortest paths of a lane to a webhook that accepts one at a time', () => {
  walkChart(laneMachine, happenings, (actors) => openLane(actors, 1, []), {
    ...{ input: { isPaced: true }, fingerprint: doubted, look },
  });
});

describe('the shortest paths of a lane to a webhook that accepts several at once', () => {
  const open = (actors: readonly AnyActorRef[]) => openLane(actors, 8, [5, 6]);
  walkChart(laneMachine, { ...happenings, ...duringPause }, open, {
    ...{ input: { isPaced: false }, fingerprint: doubted, look },
  });
});
