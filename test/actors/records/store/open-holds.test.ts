import { describe, expect, it } from 'vitest';
import type { TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import type { Hold, HoldState } from '../../../../src/machines/domain/hold.ts';
import type { Task } from '../../../../src/machines/domain/task.ts';
import { keepTasks } from '../../../helpers/keep-tasks.ts';
import { kindsOfStores, type StorePlace } from '../../../helpers/kinds-of-stores.ts';
import { aDecidedHold, aParkedTask, aTask } from '../../../helpers/stored-tasks.ts';

const requested: Hold = {
  ...{ key: 'k', tool: 'pay', askedSha256: 'aa', releaseWithin: 1_000, outcomeWithin: 1_000 },
  // The arguments of a call are not its state, and PostgreSQL has no value for the last one.
  context: { hold: { account: { state: 'closed' } }, zero: '\u0000\ud800' },
};

function aHold(id: string, state: HoldState): Task {
  const task = aDecidedHold(id, state);
  return { ...task, hold: { ...task.hold, ...requested } };
}

const holds: readonly Task[] = [
  { ...aParkedTask('waiting', 5_000), surface: 'hold', hold: requested },
  { ...aParkedTask('waiting-too', 6_000), surface: 'hold', hold: requested },
  aTask({ id: 'denied', state: 'failed', surface: 'hold', hold: requested }),
  aHold('granted', 'granted'),
  aHold('released', 'released'),
  aHold('unaccounted', 'unaccounted'),
  aHold('closed', 'closed'),
  aHold('withdrawn', 'withdrawn'),
];

const tasks = [aTask(), aParkedTask('parked', 5_000)];

const expected = { waiting: 2, granted: 1, released: 1, unaccounted: 1 };

async function filled(place: StorePlace): Promise<TaskStore> {
  const store = await place.open();
  await keepTasks(store, [...tasks, ...holds]);
  return store;
}

describe.each(kindsOfStores)('the open holds of $kind', ({ make }) => {
  it('are counted by state, without tasks and without ended holds', async () => {
    const { rows } = await filled(await make());
    expect(await rows.countOpenHolds()).toEqual(expected);
  });

  it('are not counted after a release without the column ended them', async () => {
    const place = await make();
    const { rows } = await filled(place);
    await place.execute(`UPDATE tasks SET state = 'completed', deadline_at = NULL`);
    expect(await rows.countOpenHolds()).toEqual({ unaccounted: 1 });
  });
});
