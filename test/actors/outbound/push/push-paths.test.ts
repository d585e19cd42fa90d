import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, vi } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { PushNotifications } from '../../../../src/actors/outbound/push/push-notifications.ts';
import { isFinal, type Task } from '../../../../src/machines/domain/task.ts';
import {
  mostAttempts,
  type PushDeliveryContext,
  pauseAfter,
  pushDeliveryMachine,
} from '../../../../src/machines/push/push-delivery-machine.ts';
import { type Happenings, walkChart } from '../../../helpers/chart-walk.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { patient } from '../../../helpers/patient.ts';
import { aPushTarget } from '../../../helpers/push-target.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { openStore, temporaryFolder } from '../../../helpers/test-system.ts';
import { aServer } from '../egress/a-server.ts';
import { anEgress } from '../egress/an-egress.ts';

/** A task at revision 0, and its receiver, which answers when a test lets it. */
async function openPush() {
  const calls: { task: unknown; response: ServerResponse }[] = [];
  const { port } = await aServer(({ body }, response) => {
    calls.push({ task: JSON.parse(body), response });
  });
  const store = await openStore(temporaryFolder());
  const clock = new ManualClock(0);
  const logged: string[] = [];
  const log = (_: object, message: string) => void logged.push(message);
  const push = new PushNotifications({
    rows: store.push,
    find: (id) => store.rows.find(id),
    write: async (task) => ({ body: JSON.stringify(task), contentType: 'application/json' }),
    egress: anEgress().egress,
    clock,
    log: { info: log, warn: log, error: log },
  });
  onTestFinished(async () => {
    await push.stop();
    await store.close();
  });
  await push.set(aPushTarget({ url: `http://hook.example.test:${port}/` }));
  const untold: Task[] = [];
  let latest = aTask({ revision: 0 });
  let attempts = 0;
  const settled = async () => {
    const last = untold.shift();
    attempts = 0;
    const left = untold.length === 0 && isFinal(latest.state) ? [] : [last?.revision];
    const told = async () => (await store.push.open()).map(({ told: revision }) => revision);
    await vi.waitFor(async () => expect(await told()).toEqual(left), { ...patient, interval: 1 });
  };
  return {
    wait: () => clock.advance(pauseAfter(attempts)),
    /** Puts a change on disk, and has it told. */
    change: async (state?: Task['state']) => {
      latest = { ...latest, ...changeOf(latest.revision + 1, state) };
      void store.save(latest.id, () => aWrite(latest));
      expect(await store.flush()).toBeNull();
      if (state !== undefined) untold.push(latest);
      push.changed(latest);
    },
    repeat: () => push.changed(latest),
    /** Answers the one call that is under way, which tells the oldest change that is not told. */
    answer: async (status: number) => {
      await vi.waitUntil(() => calls.length === 1, { ...patient, interval: 1 });
      const { task, response } = calls.splice(0)[0] as (typeof calls)[0];
      expect(task).toEqual(untold[0]);
      attempts += 1;
      response.writeHead(status).end();
      if (status === 204) return settled();
      const isGivenUp = attempts === mostAttempts;
      if (isGivenUp) await settled();
      expect(logged.splice(0)).toEqual(
        isGivenUp ? ['push: a notification was given up after an hour'] : [],
      );
    },
  };
}

type World = Awaited<ReturnType<typeof openPush>>;

const contextOf = (snapshot: AnyMachineSnapshot): PushDeliveryContext => snapshot.context;

/** What happens between the first attempt for a change and the last one is the same after each. */
const isFirst = (snapshot: AnyMachineSnapshot) => contextOf(snapshot).attempts <= 1;
const isLast = (snapshot: AnyMachineSnapshot) => contextOf(snapshot).attempts === mostAttempts;
const isAlone = (snapshot: AnyMachineSnapshot) => contextOf(snapshot).waiting.length < 2;
const isKnown = (snapshot: AnyMachineSnapshot) =>
  isFirst(snapshot) && contextOf(snapshot).latest !== null;
const isPosting = (snapshot: AnyMachineSnapshot) => snapshot.matches('posting');

/** What a task says differs with each of its revisions; without a state, neither does. */
const changeOf = (revision: number, state?: Task['state']): Partial<Task> => ({
  revision,
  ...(state && { state, text: `revision ${revision}` }),
});

const becomes = (state?: Task['state']) => ({
  event: ({ context: { latest, told } }: AnyMachineSnapshot) => ({
    type: 'task.changed',
    task: aTask({ ...latest, ...changeOf((latest?.revision ?? told) + 1, state) }),
  }),
  happen: (world: World) => world.change(state),
});

const happenings: Happenings<World> = {
  'the task goes on': {
    ...becomes('working'),
    in: (snapshot) => isFirst(snapshot) && isAlone(snapshot),
  },
  'the task ends': {
    ...becomes('completed'),
    in: (snapshot) =>
      (isFirst(snapshot) || isLast(snapshot)) &&
      isAlone(snapshot) &&
      contextOf(snapshot).latest?.state !== 'completed',
  },
  'the task changes in what nobody is told': { ...becomes(), in: isKnown },
  'a change is heard again': {
    event: ({ context }) => ({ type: 'task.changed', task: aTask({ ...context.latest }) }),
    in: isKnown,
    happen: (world) => world.repeat(),
  },
  'the receiver takes it': {
    event: { type: 'xstate.done.actor.0.push-delivery.posting' },
    in: (snapshot) => isPosting(snapshot) && (isFirst(snapshot) || isLast(snapshot)),
    happen: (world) => world.answer(204),
  },
  'the receiver answers 500': {
    event: { type: 'xstate.error.actor.0.push-delivery.posting', error: new Error('500') },
    in: (snapshot) =>
      isPosting(snapshot) && (isFirst(snapshot) || isLast(snapshot) || isAlone(snapshot)),
    happen: (world) => world.answer(500),
  },
  'the pause ends': {
    event: { type: 'xstate.after.pause.push-delivery.pausing' },
    in: (snapshot) => snapshot.matches('pausing'),
    happen: (world) => world.wait(),
  },
};

describe('the shortest paths of a delivery to a receiver', () => {
  walkChart(pushDeliveryMachine, happenings, openPush, {
    input: { told: 0 },
    fingerprint: ({ context: { waiting, latest, attempts } }) => [
      waiting.map(({ state }: Task) => state),
      latest?.state,
      attempts,
    ],
  });
});
