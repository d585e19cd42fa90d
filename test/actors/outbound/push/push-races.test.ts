import { setImmediate } from 'node:timers/promises';
import { Agent } from 'undici';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { PushNotifications } from '../../../../src/actors/outbound/push/push-notifications.ts';
import type { PushTarget } from '../../../../src/actors/ports/push.ts';
import type { PushRows } from '../../../../src/actors/records/records.ts';
import type { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import type { Task, TaskState } from '../../../../src/machines/domain/task.ts';
import { HeldRows } from '../../../helpers/held-rows.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { aPushTarget } from '../../../helpers/push-target.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { openStore, temporaryFolder } from '../../../helpers/test-system.ts';

/** The reading of tasks, as something that may be held like rows. */
interface Tasks {
  find(id: string): Promise<Task | undefined>;
}

let store: SqliteStore;
let clock: ManualClock;
let held: HeldRows<PushRows>;
let tasks: HeldRows<Tasks>;
/** The posts to every receiver, in order. */
let told: string[];
let push: PushNotifications;

beforeEach(async () => {
  store = await openStore(temporaryFolder());
  clock = new ManualClock(0);
  held = new HeldRows<PushRows>(store.push);
  tasks = new HeldRows<Tasks>({ find: (id) => store.rows.find(id) });
  told = [];
  push = startPush();
  onTestFinished(async () => {
    for (const { fail } of [...held.calls, ...tasks.calls]) await fail();
    await push.stop();
    await store.close();
  });
});

function startPush(isShared = false): PushNotifications {
  const ignore = () => undefined;
  return new PushNotifications({
    rows: held.rows,
    find: (id) => tasks.rows.find(id),
    isShared,
    write: async ({ state, revision }) => ({
      body: `${state} ${revision}`,
      contentType: 'text/plain',
    }),
    egress: {
      dispatcher: new Agent(),
      within: (_scope, run) => run(),
      refusalOf: async () => null,
      fetch: async (url, init) => {
        told.push(`${new URL(String(url)).pathname.slice(1)} ${String(init?.body)}`);
        return new Response();
      },
    },
    clock,
    log: { info: ignore, warn: ignore, error: ignore },
  });
}

/** Puts a task on disk. */
async function keep(state: TaskState, revision: number): Promise<Task> {
  const task = aTask({ state, revision });
  void store.save(task.id, () => aWrite(task));
  expect(await store.flush()).toBeNull();
  return task;
}

const target = (id = 'a', more: Partial<PushTarget> = {}) =>
  aPushTarget({ id, url: `https://hook.example.test/${id}`, ...more });

async function turns(): Promise<void> {
  for (let turn = 0; turn < 8; turn += 1) await setImmediate();
}

const waiting = () => held.calls.map(({ method }) => method);
const behind = async () => (await store.push.open()).map(({ told: at }) => at);

describe('changes that arrive while the receivers are read', () => {
  it('are posted to each once and in order, after one read', async () => {
    await store.push.put(target('a'), 0);
    await store.push.put(target('b'), 0);
    held.hold('list');
    for (const [index, state] of (['working', 'deferred', 'working'] as const).entries()) {
      push.changed(await keep(state, index + 1));
    }
    await turns();
    const reading = waiting();
    await held.calls[0]?.answer();
    push.changed(await keep('completed', 4));
    await turns();
    const all = ['working 1', 'deferred 2', 'working 3', 'completed 4'];
    const of = (id: string) => told.filter((each) => each.startsWith(id));
    expect([reading, waiting(), of('a'), of('b'), await behind()]).toEqual([
      ['list'],
      [],
      all.map((each) => `a ${each}`),
      all.map((each) => `b ${each}`),
      [],
    ]);
  });

  it('are posted after the next successful read, in order', async () => {
    await store.push.put(target(), 0);
    held.hold('list');
    push.changed(await keep('working', 1));
    push.changed(await keep('completed', 2));
    await turns();
    await held.calls[0]?.fail();
    held.release('list');
    const before = [[...told], clock.pending];
    clock.advance(5_000);
    await turns();
    expect([before, told, await behind()]).toEqual([[[], 1], ['a working 1', 'a completed 2'], []]);
  });

  it('delay no other task', async () => {
    held.hold('list');
    push.changed(await keep('working', 1));
    held.release('list');
    await store.push.put(target('other', { taskId: 't-2' }), 0);
    push.changed(aTask({ id: 't-2', state: 'working', revision: 1 }));
    await turns();
    expect([waiting(), told]).toEqual([['list'], ['other working 1']]);
  });

  it('are not posted after a stop', async () => {
    await store.push.put(target(), 0);
    held.hold('list');
    push.changed(await keep('working', 1));
    await push.stop();
    await held.calls[0]?.answer();
    expect([told, clock.pending]).toEqual([[], 0]);
  });
});

describe('a start whose reads take long', () => {
  it('undoes no change, and posts none twice', async () => {
    await store.push.put(target(), 0);
    const first = await keep('working', 1);
    tasks.hold('find', 'late');
    push.start();
    await turns();
    push.changed(first);
    const second = await keep('completed', 2);
    await tasks.calls[0]?.answer();
    push.changed(second);
    await turns();
    expect([told, await behind()]).toEqual([['a completed 2'], []]);
  });

  it('posts no end that was posted during the read', async () => {
    await store.push.put(target(), 0);
    const last = await keep('completed', 1);
    held.hold('open');
    push.start();
    await turns();
    push.changed(last);
    await turns();
    await held.calls[0]?.answer();
    expect([told, await behind()]).toEqual([['a completed 1'], []]);
  });

  it('resumes no receiver that was deleted during the read', async () => {
    await store.push.put(target(), 0);
    await keep('working', 1);
    held.hold('open');
    push.start();
    await turns();
    const deleted = push.delete('t-1', 'a');
    await turns();
    held.release('open');
    await held.calls[0]?.answer();
    const before = [...told];
    push.changed(await keep('completed', 2));
    await turns();
    expect([await deleted, told, clock.pending]).toEqual([true, before, 0]);
  });

  it('keeps a receiver that was set during the read for a task that does not exist yet', async () => {
    held.hold('deleteOrphans', 'late');
    push.start();
    const set = push.set(target());
    await turns();
    await held.calls[0]?.answer();
    await set;
    push.changed(await keep('working', 1));
    await turns();
    expect([told, (await push.list('t-1')).length]).toEqual([['a working 1'], 1]);
  });

  it('is repeated when the store could not be read', async () => {
    await store.push.put(target(), 0);
    await keep('completed', 1);
    held.hold('open');
    push.start();
    await turns();
    await held.calls[0]?.fail();
    held.release('open');
    clock.advance(5_000);
    await turns();
    expect([told, await behind()]).toEqual([['a completed 1'], []]);
  });
});

describe('a receiver that is set or deleted during a change', () => {
  it('receives each later change once', async () => {
    await keep('working', 1);
    held.hold('put', 'late');
    const set = push.set(target());
    await turns();
    push.changed(await keep('deferred', 2));
    push.changed(await keep('completed', 3));
    await turns();
    await held.calls[0]?.answer();
    await set;
    await turns();
    expect([told, await behind()]).toEqual([['a deferred 2', 'a completed 3'], []]);
  });

  it('receives what earlier receivers receive', async () => {
    await keep('working', 1);
    await push.set(target('a'));
    held.hold('put', 'late');
    const set = push.set(target('b'));
    await turns();
    push.changed(await keep('completed', 2));
    await turns();
    await held.calls[0]?.answer();
    await set;
    await turns();
    expect([told, await behind()]).toEqual([['a completed 2', 'b completed 2'], []]);
  });

  it('does not receive a change from before its request that arrives later', async () => {
    const first = await keep('working', 1);
    await push.set(target());
    push.changed(first);
    push.changed(await keep('completed', 2));
    await turns();
    expect(told).toEqual(['a completed 2']);
  });

  it('does not receive an end from before its request that arrives later', async () => {
    const last = await keep('completed', 1);
    await push.set(target());
    push.changed(last);
    await turns();
    const before = [...told];
    push.changed(await keep('working', 2));
    await turns();
    expect([before, told]).toEqual([[], ['a working 2']]);
  });

  it('does not take the end from a replaced receiver that has not received it', async () => {
    await keep('deferred', 1);
    await push.set(target());
    const last = await keep('completed', 2);
    await push.set(target('a', { url: 'https://hook.example.test/b' }));
    push.changed(last);
    await turns();
    expect([told, await behind()]).toEqual([['b completed 2'], []]);
  });

  it('does not receive the end twice when its predecessor has it, although that is not stored yet', async () => {
    await keep('deferred', 1);
    await push.set(target());
    held.hold('keepTold', 'late');
    push.changed(await keep('completed', 2));
    await turns();
    held.release('keepTold');
    const setting = push.set(target('a', { url: 'https://hook.example.test/b' }));
    await turns();
    await held.calls[0]?.answer();
    await setting;
    await turns();
    expect([told, await behind()]).toEqual([['a completed 2'], []]);
  });

  it('continues when its replacement or deletion failed', async () => {
    await keep('working', 1);
    await push.set(target());
    held.hold('put', 'late');
    held.hold('delete', 'late');
    const set = push.set(target('a', { url: 'https://hook.example.test/b' }));
    const deleted = push.delete('t-1', 'a');
    const failed = Promise.allSettled([set, deleted]);
    await turns();
    await held.calls[0]?.fail();
    await turns();
    await held.calls[0]?.fail();
    await failed;
    push.changed(await keep('completed', 2));
    await turns();
    expect(told).toEqual(['a completed 2']);
  });

  it('receives nothing after it is deleted, during any read', async () => {
    await store.push.put(target(), 0);
    held.hold('list');
    push.changed(await keep('working', 1));
    await turns();
    const deleted = push.delete('t-1', 'a');
    await turns();
    held.release('list');
    await held.calls[0]?.answer();
    const isDeleted = await deleted;
    const before = [...told];
    push.changed(await keep('completed', 2));
    await turns();
    expect([isDeleted, told, clock.pending]).toEqual([true, before, 0]);
  });

  it('is one of at most sixteen, however many are set at once', async () => {
    await keep('working', 1);
    const all = Array.from({ length: 20 }, (_, index) => push.set(target(`id-${index}`)));
    const outcomes = await Promise.allSettled(all);
    expect([
      outcomes.filter(({ status }) => status === 'fulfilled').length,
      (await push.list('t-1')).length,
    ]).toEqual([16, 16]);
  });
});

describe('a receiver that is set at a daemon without delivery', () => {
  it('is left to the delivering daemon, which posts the changes', async () => {
    const aside = startPush(true);
    push.start();
    await keep('deferred', 1);
    await aside.set(target());
    push.changed(await keep('completed', 2));
    await turns();
    await aside.stop();
    expect([told, await behind()]).toEqual([['a completed 2'], []]);
  });

  it('does not receive the state from before its request', async () => {
    const aside = startPush(true);
    await keep('deferred', 1);
    await keep('completed', 2);
    await aside.set(target());
    await turns();
    await aside.stop();
    expect([told, await behind()]).toEqual([[], []]);
  });

  it('receives from here an end that the delivering daemon had before the request', async () => {
    const aside = startPush(true);
    push.start();
    await keep('deferred', 1);
    held.hold('put', 'late');
    const setting = aside.set(target());
    await turns();
    push.changed(await keep('completed', 2));
    await turns();
    await held.calls[0]?.answer();
    await setting;
    await turns();
    await aside.stop();
    expect([told, await behind()]).toEqual([['a completed 2'], []]);
  });

  it('does not take the end from its predecessor, although no daemon delivers for a while', async () => {
    const aside = startPush(true);
    await keep('deferred', 1);
    await aside.set(target());
    await keep('completed', 2);
    await aside.set(target());
    const left = await behind();
    await aside.stop();
    push.start();
    await turns();
    expect([left, told, await behind()]).toEqual([[1], ['a completed 2'], []]);
  });
});

describe('the progress of a receiver', () => {
  it('is stored in order, and never decreases', async () => {
    await keep('submitted', 1);
    await push.set(target());
    held.hold('keepTold', 'late');
    push.changed(await keep('working', 2));
    push.changed(await keep('deferred', 3));
    await turns();
    const before = [[...told], waiting()];
    await held.calls[0]?.answer();
    const then = [await behind(), waiting()];
    await held.calls[0]?.answer();
    expect([before, then, await behind()]).toEqual([
      [['a working 2', 'a deferred 3'], ['keepTold']],
      [[2], ['keepTold']],
      [3],
    ]);
  });

  it('is stored again until the store accepts it', async () => {
    await keep('submitted', 1);
    await push.set(target());
    held.hold('keepTold', 'late');
    push.changed(await keep('completed', 2));
    await turns();
    await held.calls[0]?.fail();
    held.release('keepTold');
    const before = await behind();
    clock.advance(5_000);
    await turns();
    expect([before, await behind(), told]).toEqual([[1], [], ['a completed 2']]);
  });

  it('is stored before its id is used again, and before the stop is over', async () => {
    await keep('submitted', 1);
    await push.set(target());
    held.hold('keepTold', 'late');
    push.changed(await keep('working', 2));
    await turns();
    held.hold('put', 'late');
    const set = push.set(target());
    await turns();
    const first = waiting();
    await held.calls[0]?.answer();
    const then = waiting();
    held.release('put');
    await held.calls[0]?.answer();
    await set;
    push.changed(await keep('completed', 3));
    await turns();
    let isOver = false;
    const stopped = push.stop().then(() => {
      isOver = true;
    });
    await turns();
    const before = [isOver, waiting()];
    await held.calls[0]?.answer();
    await stopped;
    expect([first, then, before, await behind()]).toEqual([
      ['keepTold'],
      ['put'],
      [false, ['keepTold']],
      [],
    ]);
  });
});
