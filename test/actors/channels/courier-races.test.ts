import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ApprovalCourier } from '../../../src/actors/channels/approval-courier.ts';
import { DeliveryError } from '../../../src/actors/channels/channel-adapter.ts';
import type { ApprovalRows } from '../../../src/actors/records/records.ts';
import type { SqliteStore } from '../../../src/actors/records/sqlite/sqlite-store.ts';
import type { Task } from '../../../src/machines/domain/task.ts';
import { HeldRows } from '../../helpers/held-rows.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { NoteBoardAdapter } from '../../helpers/note-board-adapter.ts';
import { aTask, aWrite } from '../../helpers/stored-tasks.ts';
import { aDeferral } from '../../helpers/task-fixtures.ts';
import { openStore, temporaryFolder } from '../../helpers/test-system.ts';

let store: SqliteStore;
let clock: ManualClock;
let held: HeldRows<ApprovalRows>;
let board: NoteBoardAdapter;
let courier: ApprovalCourier;
let logged: string[];

beforeEach(async () => {
  store = await openStore(temporaryFolder());
  clock = new ManualClock(0);
  held = new HeldRows<ApprovalRows>(store.approvals);
  board = new NoteBoardAdapter();
  logged = [];
  const note = (_: object, message: string) => void logged.push(message);
  const log = { info: note, warn: note, error: note };
  courier = new ApprovalCourier({ rows: held.rows, adapters: [board], clock, log });
  courier.start();
  board.become('connected');
  onTestFinished(async () => {
    for (const { fail } of [...held.calls]) await fail();
    await courier.stop();
    await store.close();
  });
  await turns();
});

/** Puts tasks on disk and tells the courier, as a task system does. */
async function keep(...tasks: Task[]): Promise<void> {
  for (const task of tasks) void store.save(task.id, () => aWrite(task));
  expect(await store.flush()).toBeNull();
  for (const task of tasks) courier.changed(task);
}

function parked(id: string, target = 'one', more: Partial<Task> = {}): Task {
  const deferral = aDeferral({ id: `${id}-d`, to: `channel:board:${target}` });
  return aTask({ id, state: 'deferred', stage: 'asked', deferral, ...more });
}

function canceled(id: string, revision = 2): Task {
  return aTask({ id, revision, state: 'canceled', text: 'canceled: by rita' });
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 8; turn += 1) await setImmediate();
}

const did = () => board.pinned.map(({ deferralId, did: what }) => `${what} ${deferralId}`);
const waiting = () => held.calls.map(({ method }) => method);

/** Answers what is asked of a method until nothing is asked of it any more. */
async function answerAll(method: keyof ApprovalRows): Promise<void> {
  await turns();
  for (let call = first(method); call !== undefined; call = first(method)) await call.answer();
}

const first = (method: string) => held.calls.find((call) => call.method === method);

describe('rows that are read slowly', () => {
  it('cause no second post of a message posted during the read', async () => {
    const post = Promise.withResolvers<void>();
    board.answer = () => post.promise;
    await keep(parked('a'));
    await turns();
    held.hold('nextSlot', 'late');
    await keep(parked('b', 'two'));
    await turns();
    const reading = waiting();
    post.resolve();
    await turns();
    const posted = did();
    await answerAll('nextSlot');
    expect([reading, posted, did(), await courier.pending()]).toEqual([
      ['nextSlot'],
      ['posted a-d'],
      ['posted a-d', 'posted b-d'],
      [],
    ]);
  });

  it('cause no second post while the first is being stored', async () => {
    held.hold('keep', 'late');
    await keep(parked('a'));
    await turns();
    await keep(parked('b', 'two'), parked('c'));
    await turns();
    const before = [did(), waiting()];
    await answerAll('keep');
    expect([before, did()]).toEqual([
      [['posted a-d'], ['keep']],
      ['posted a-d', 'posted b-d', 'posted c-d'],
    ]);
  });

  it('start nothing while the end of an earlier row is not stored', async () => {
    const post = Promise.withResolvers<void>();
    board.answer = ({ request }) => (request.taskId === 'a' ? post.promise : undefined);
    await keep(parked('a'));
    await turns();
    held.hold('nextSlot');
    held.hold('keep', 'late');
    await keep(parked('b', 'two'));
    await turns();
    post.resolve();
    await turns();
    held.release('nextSlot');
    await first('nextSlot')?.answer();
    const before = [did(), waiting()];
    await first('keep')?.fail();
    const paused = [did(), waiting()];
    held.release('keep');
    clock.advance(5_000);
    await turns();
    expect([before, paused, did(), await courier.pending()]).toEqual([
      [['posted a-d'], ['keep']],
      [['posted a-d'], []],
      ['posted a-d', 'posted b-d'],
      [],
    ]);
  });

  it('are read by one pass at a time, and once more for later changes', async () => {
    held.hold('nextSlot');
    await keep(parked('a'));
    await turns();
    for (const id of ['b', 'c', 'd']) {
      await keep(parked(id, id));
      await turns();
    }
    const reading = waiting();
    await answerAll('nextSlot');
    expect([reading, did().toSorted()]).toEqual([
      ['nextSlot'],
      ['posted a-d', 'posted b-d', 'posted c-d', 'posted d-d'],
    ]);
  });

  it('start nothing on a board that is lost during the read, and start once when it is back', async () => {
    held.hold('nextDue');
    await keep(parked('a'));
    await turns();
    board.become('backoff');
    held.release('nextDue');
    await answerAll('nextDue');
    const down = [did(), courier.live];
    board.become('connected');
    await turns();
    expect([down, did()]).toEqual([[[], 0], ['posted a-d']]);
  });

  it('start nothing when the courier stops during the read', async () => {
    held.hold('nextDue');
    await keep(parked('a'));
    await turns();
    const stopped = courier.stop();
    await answerAll('nextDue');
    await stopped;
    expect([did(), courier.live]).toEqual([[], 0]);
  });

  it('are combined with a change that arrived during the read', async () => {
    const answers: unknown[] = [new DeliveryError('one moment', { fault: 'later' })];
    board.answer = () => answers.shift();
    held.hold('nextDue');
    await keep(parked('a'));
    await turns();
    await keep(canceled('a'));
    held.release('nextDue');
    await answerAll('nextDue');
    clock.advance(60_000);
    await turns();
    expect([answers, did(), courier.live, await courier.pending()]).toEqual([[], [], 0, []]);
  });

  it('do not undo a change, however late they arrive', async () => {
    const post = Promise.withResolvers<void>();
    board.answer = (_, kind) => (kind === 'post' ? post.promise : undefined);
    await keep(parked('a'));
    await turns();
    held.hold('ofTask');
    await keep(parked('a', 'one', { revision: 2, stage: 'reminded' }));
    const [older] = held.calls;
    await keep(canceled('a', 3));
    const newer = held.calls[1];
    held.release('ofTask');
    await newer?.answer();
    await older?.answer();
    post.resolve();
    await turns();
    expect([did(), courier.live, await courier.pending()]).toEqual([
      ['posted a-d', 'ended a-d'],
      0,
      [],
    ]);
  });

  it('lose no change when the read fails', async () => {
    board.answer = () => new Promise(() => undefined);
    await keep(parked('a'));
    await turns();
    held.hold('ofTask');
    await keep(canceled('a'));
    await first('ofTask')?.fail();
    held.release('ofTask');
    const before = logged.length;
    board.answer = () => undefined;
    clock.advance(60_000);
    await turns();
    clock.advance(1_000);
    await turns();
    expect([before, did(), courier.live, await courier.pending()]).toEqual([1, [], 0, []]);
  });

  it('are read again five seconds after a failed read, and nothing starts before', async () => {
    held.hold('nextSlot');
    await keep(parked('a'));
    await turns();
    await first('nextSlot')?.fail();
    await keep(parked('b', 'two'));
    await turns();
    const paused = [did(), waiting(), logged.length];
    held.release('nextSlot');
    clock.advance(5_000);
    await turns();
    expect([paused, did()]).toEqual([
      [[], [], 1],
      ['posted a-d', 'posted b-d'],
    ]);
  });

  it('contain the place of a message that is stored after the read', async () => {
    held.hold('keep', 'late');
    await keep(parked('a'));
    await turns();
    held.hold('find');
    const found = courier.find('a-d', 'board');
    await answerAll('keep');
    await answerAll('find');
    expect((await found).map(({ ref }) => ref)).toEqual([{ note: 1 }]);
  });

  it('contain the place of a message that was posted during the read', async () => {
    const post = Promise.withResolvers<void>();
    board.answer = () => post.promise;
    await keep(parked('a'));
    await turns();
    held.hold('find');
    held.hold('keep', 'late');
    const found = courier.find('a-d', 'board');
    post.resolve();
    await turns();
    await answerAll('find');
    expect((await found).map(({ ref }) => ref)).toEqual([{ note: 1 }]);
    await answerAll('keep');
  });
});

describe('a stop', () => {
  it('waits for the current write, and writes later changes', async () => {
    held.hold('keep', 'late');
    await keep(parked('a'));
    await turns();
    let isOver = false;
    const stopped = courier.stop().then(() => {
      isOver = true;
    });
    await turns();
    const before = [isOver, waiting()];
    await answerAll('keep');
    await stopped;
    const [row] = await store.approvals.find('a-d', 'board');
    expect([before, row?.ref]).toEqual([[false, ['keep']], { note: 1 }]);
  });

  it('retries once what could not be written', async () => {
    held.hold('keep', 'late');
    await keep(parked('a'));
    await turns();
    await first('keep')?.fail();
    held.release('keep');
    await courier.stop();
    const [row] = await store.approvals.find('a-d', 'board');
    expect([row?.ref, clock.pending]).toEqual([{ note: 1 }, 0]);
  });

  it('waits at most five seconds for a store that does not answer', async () => {
    held.hold('keep', 'late');
    await keep(parked('a'));
    await turns();
    const stopped = courier.stop();
    await turns();
    clock.advance(5_000);
    await stopped;
    expect([clock.pending, board.isStopped]).toEqual([0, true]);
    await answerAll('keep');
  });
});
