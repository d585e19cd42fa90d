import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { mostSending } from '../../../src/actors/channels/adapter-deliveries.ts';
import { ApprovalCourier } from '../../../src/actors/channels/approval-courier.ts';
import { DeliveryError } from '../../../src/actors/channels/channel-adapter.ts';
import { patience } from '../../../src/actors/channels/live-delivery.ts';
import { longestQuarantine } from '../../../src/actors/channels/quarantine.ts';
import { type SqliteStore } from '../../../src/actors/records/sqlite/sqlite-store.ts';
import type { Deferral, Task } from '../../../src/machines/domain/task.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { NoteBoardAdapter, oneEvery } from '../../helpers/note-board-adapter.ts';
import { aTask, aWrite } from '../../helpers/stored-tasks.ts';
import { aDeferral } from '../../helpers/task-fixtures.ts';
import { openStore, storeFiles, temporaryFolder } from '../../helpers/test-system.ts';

let folder: string;
let store: SqliteStore;
let clock: ManualClock;
const undo: (() => unknown)[] = [];

beforeEach(async () => {
  folder = temporaryFolder();
  store = await openStore(folder);
  clock = new ManualClock(0);
});

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
  await store.close();
});

/** A courier over a store, with boards that are reached unless a test says otherwise. */
function startCourier(boards = [new NoteBoardAdapter()], isUp = true) {
  const logged: unknown[] = [];
  const log = (level: string) => (fields: object, message: string) =>
    void logged.push([level, fields, message.slice(0, message.indexOf(';'))]);
  const courier = new ApprovalCourier({
    rows: store.approvals,
    adapters: boards,
    clock,
    log: { info: log('info'), warn: log('warn'), error: log('error') },
  });
  courier.start();
  for (const board of boards) if (isUp) board.become('connected');
  undo.push(() => courier.stop());
  return { courier, logged, board: boards[0] as NoteBoardAdapter };
}

/** Puts tasks on disk and tells a courier, as a task system does. */
async function keep(courier: ApprovalCourier | null, ...tasks: Task[]): Promise<void> {
  for (const task of tasks) void store.save(task.id, () => aWrite(task));
  expect(await store.flush()).toBeNull();
  for (const task of tasks) courier?.changed(task);
}

const board1 = 'channel:board:one';

function parked(id: string, deferral: Partial<Deferral> = {}, more: Partial<Task> = {}): Task {
  return aTask({
    id,
    state: 'deferred',
    stage: 'asked',
    deferral: aDeferral({ id: `${id}-d`, to: board1, ...deferral }),
    ...more,
  });
}

function canceled(id: string, revision = 2): Task {
  return aTask({ id, revision, state: 'canceled', text: 'canceled: by rita' });
}

/** Lets what is under way come to rest, as far as no clock is needed. */
async function turns(count = 8): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate();
}

/** Advances from turn to turn, and from second to second, until a condition holds. */
async function until(isSo: () => boolean | Promise<boolean>, seconds = 10_000): Promise<void> {
  for (let second = 0; second < seconds && !(await isSo()); second += 1) {
    clock.advance(1_000);
    await turns(4);
  }
  expect(await isSo()).toBe(true);
}

/** Tells whether a courier has nothing left to deliver. */
const isDone = async (courier: ApprovalCourier) => (await courier.pending()).length === 0;

const did = ({ pinned }: NoteBoardAdapter) =>
  pinned.map(({ deferralId, did: what, note }) => `${what} ${deferralId} on ${note}`);
const ids = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `t-${String(from + index).padStart(4, '0')}`);
const later = new DeliveryError('the board is full; make room', { fault: 'later' });
const asksForTime = new DeliveryError('one moment', { fault: 'later', retryAfter: 30_000 });
const noBoard = new DeliveryError('there is no such board; put one up', { fault: 'target' });

describe('the courier of approvals', () => {
  it('posts, reminds, counts and shows the end, on one message', async () => {
    const { courier, board } = startCourier();
    await keep(courier, parked('a'));
    await turns();
    await keep(courier, parked('a', {}, { revision: 2, stage: 'reminded' }));
    await turns();
    const approvals = [{ approver: 'ann', at: 3 }];
    await keep(courier, parked('a', { approvals }, { revision: 3, stage: 'reminded' }));
    await turns();
    await keep(courier, canceled('a', 4));
    await turns();
    expect([did(board), courier.live, clock.pending, await courier.pending()]).toEqual([
      ['posted a-d on 1', 'reminded a-d on 1', 'counted a-d on 1', 'ended a-d on 1'],
      0,
      0,
      [],
    ]);
    expect(await store.approvals.find('a-d', 'board')).toMatchObject([
      { ref: { note: 1 }, notice: { outcome: { kind: 'canceled', reason: 'by rita', at: 1_000 } } },
    ]);
  });

  it('posts to the second target when a wait escalates', async () => {
    const others = new NoteBoardAdapter('others');
    const { courier, board } = startCourier([new NoteBoardAdapter(), others]);
    const escalateTo = 'channel:others:two';
    await keep(courier, parked('a', { escalateTo }));
    await turns();
    await keep(courier, parked('a', { escalateTo }, { revision: 2, stage: 'escalated' }));
    await turns();
    await keep(courier, canceled('a', 3));
    await turns();
    expect([did(board), did(others)]).toEqual([
      ['posted a-d on 1', 'changed a-d on 1', 'ended a-d on 1'],
      ['posted a-d on 1', 'ended a-d on 1'],
    ]);
  });

  it('sends nothing to an adapter without decisions, and skips targets of other adapters', async () => {
    const mute = new NoteBoardAdapter('mute', { approvals: false });
    const { courier, board } = startCourier([new NoteBoardAdapter(), mute]);
    await keep(
      courier,
      parked('a', { to: 'channel:mute:one' }),
      parked('b', { to: 'channel:gone:one' }),
    );
    await turns();
    expect([did(board), did(mute), await courier.pending()]).toEqual([
      [],
      [],
      [
        { adapter: 'gone', unposted: 1, stale: 0, oldestAt: 2_000 },
        { adapter: 'mute', unposted: 1, stale: 0, oldestAt: 2_000 },
      ],
    ]);
  });

  it('posts a thousand in order to a board that accepts one a second, and loses none', async () => {
    const { courier, board } = startCourier();
    board.answer = oneEvery(1_000, clock);
    let live = 0;
    await keep(courier, ...ids(0, 1_000).map((id) => parked(id)));
    await until(() => {
      live = Math.max(live, courier.live);
      return board.pinned.length === 1_000;
    });
    await turns();
    expect(board.pinned.map(({ did: what, deferralId }) => `${what} ${deferralId}`)).toEqual(
      ids(0, 1_000).map((id) => `posted ${id}-d`),
    );
    expect([live, board.calls.mostOfOne, courier.live, await courier.pending()]).toEqual([
      1,
      1,
      0,
      [],
    ]);
  });

  it('posts what is still pending, oldest first, once a board is connected', async () => {
    const { courier, board } = startCourier([new NoteBoardAdapter()], false);
    await keep(courier, ...ids(0, 500).map((id) => parked(id)));
    await keep(courier, ...ids(0, 200).map((id) => canceled(id)));
    await turns();
    const before = [did(board), courier.live];
    board.become('connected');
    await keep(courier, ...ids(500, 600).map((id) => parked(id)));
    await until(() => isDone(courier));
    expect([before, board.pinned.map(({ deferralId }) => deferralId)]).toEqual([
      [[], 0],
      ids(200, 600).map((id) => `${id}-d`),
    ]);
  });

  it('delays no target for another failing one, and keeps within its limit of posts', async () => {
    const { courier, board, logged } = startCourier();
    board.answer = async ({ request }) => {
      await setImmediate();
      return /[02468]$/.test(request.target) ? noBoard : undefined;
    };
    const tasks = ids(0, 200).map((id, index) =>
      parked(id, { to: `channel:board:${10 + (index % 50)}` }),
    );
    await keep(courier, ...tasks);
    await turns(400);
    expect([board.pinned.length, await courier.pending(), courier.live]).toEqual([
      100,
      [{ adapter: 'board', unposted: 100, stale: 0, oldestAt: 2_000 }],
      50,
    ]);
    expect([board.calls.most <= mostSending, board.calls.most > 8, board.calls.mostOfOne]).toEqual([
      true,
      true,
      1,
    ]);
    board.answer = () => setImmediate();
    await until(() => isDone(courier));
    expect([board.pinned.length, board.calls.most <= mostSending, logged.length]).toEqual([
      200,
      true,
      50,
    ]);
  });

  it('serves every target in turn when there are more targets than places', async () => {
    const { courier, board } = startCourier();
    board.answer = () => setImmediate();
    const targets = ids(0, 40).map((id) => `channel:board:${id}`);
    const tasks = ids(0, 200).map((id, index) => parked(id, { to: targets[index % 40] as string }));
    await keep(courier, ...tasks);
    await until(() => board.pinned.length === 200, 200);
    const early = new Set(board.pinned.slice(0, 80).map(({ target }) => target));
    expect([...early].toSorted()).toEqual(targets);
  });

  it('logs once why a message was not delivered, and continues', async () => {
    const { courier, board, logged } = startCourier();
    board.answer = () => noBoard;
    await keep(courier, parked('a'));
    await until(() => board.calls.all === 5, 300);
    board.answer = () => undefined;
    await until(() => board.pinned.length === 1, 61);
    expect(logged).toEqual([
      [
        'error',
        {
          task_id: 'a',
          deferral_id: 'a-d',
          target: board1,
          error: 'there is no such board; put one up',
        },
        'approvals: a message about a held call was not delivered and is tried again',
      ],
    ]);
  });

  it('retries after a defect of an adapter, and logs only its name', async () => {
    const { courier, board, logged } = startCourier();
    board.answer = () => {
      throw new TypeError('secret-token is not a function');
    };
    await keep(courier, parked('a'));
    await until(() => board.calls.all === 3, 10);
    board.answer = () => undefined;
    await until(() => board.pinned.length === 1, 10);
    expect([did(board), logged.length, JSON.stringify(logged).includes('secret-token')]).toEqual([
      ['posted a-d on 1'],
      1,
      false,
    ]);
    expect(JSON.stringify(logged)).toContain('the board adapter broke with TypeError');
  });

  it('delays no other message for a few on which an adapter throws', async () => {
    const { courier, board } = startCourier();
    board.answer = ({ request }) => {
      if (['a', 'c'].includes(request.taskId)) throw new URIError('URI malformed');
    };
    await keep(courier, ...['a', 'b', 'c', 'd'].map((id) => parked(id)));
    await turns(32);
    const during = [did(board), courier.live];
    await keep(courier, canceled('a'), canceled('b'));
    board.answer = () => undefined;
    await until(() => isDone(courier), 10);
    expect([during, did(board).slice(2).toSorted(), courier.live]).toEqual([
      [['posted b-d on 1', 'posted d-d on 2'], 2],
      ['ended b-d on 1', 'posted c-d on 3'],
      0,
    ]);
  });

  it('pauses, without growing memory, when an adapter throws on everything', async () => {
    const { courier, board } = startCourier();
    board.answer = () => {
      throw new URIError('URI malformed');
    };
    await keep(courier, ...ids(0, 100).map((id) => parked(id)));
    await until(() => clock.now() === 300_000, 300);
    const during = courier.live;
    board.answer = () => undefined;
    await until(() => isDone(courier), 300);
    expect([during, board.pinned.length, courier.live]).toEqual([65, 100, 0]);
  });

  it('continues with the other messages of a target when one is refused again and again', async () => {
    const { courier, board } = startCourier();
    board.answer = ({ request: { taskId } }) =>
      taskId === 'a' ? later : taskId === 'c' ? noBoard : undefined;
    await keep(courier, ...['a', 'b', 'c', 'd'].map((id) => parked(id)));
    await until(() => board.pinned.length === 2, 120);
    const asked = did(board);
    board.answer = () => undefined;
    await until(() => isDone(courier), 120);
    board.answer = ({ request }) => (request.taskId === 'b' ? later : undefined);
    await keep(courier, ...['a', 'b', 'c', 'd'].map((id) => canceled(id)));
    await until(() => board.pinned.length === 7, 60);
    board.answer = () => undefined;
    await until(() => isDone(courier), 60);
    const said = board.pinned.map(({ did: what, deferralId }) => `${what} ${deferralId}`);
    expect([asked, said.slice(2, 4).toSorted(), said.slice(4), courier.live]).toEqual([
      ['posted b-d on 1', 'posted d-d on 2'],
      ['posted a-d', 'posted c-d'],
      ['ended a-d', 'ended c-d', 'ended d-d', 'ended b-d'],
      0,
    ]);
  });

  it('posts in order to a target that accepts nothing for a while', async () => {
    const { courier, board } = startCourier();
    board.answer = () => later;
    await keep(courier, ...ids(0, 100).map((id) => parked(id)));
    await until(() => clock.now() === 600_000, 600);
    const during = courier.live;
    board.answer = () => undefined;
    await until(() => isDone(courier), 60);
    const tried = ids(0, longestQuarantine + 1).map((id) => `${id}-d`);
    const posted = board.pinned.map(({ deferralId }) => deferralId);
    expect([during, posted.filter((id) => !tried.includes(id)), posted.toSorted()]).toEqual([
      longestQuarantine + 1,
      ids(longestQuarantine + 1, 100).map((id) => `${id}-d`),
      ids(0, 100).map((id) => `${id}-d`),
    ]);
  });

  it('posts the next message within a second when a target refuses one permanently', async () => {
    for (const [name, refusal] of Object.entries({ later, noBoard, asksForTime })) {
      const { courier, board } = startCourier([new NoteBoardAdapter('board', {}, 4)]);
      board.answer = ({ request }) => (request.taskId.startsWith('bad') ? refusal : undefined);
      await keep(courier, ...['bad', 'good1', 'good2'].map((id) => parked(`${id}-${name}`)));
      await turns(16);
      expect(did(board)).toEqual([`posted good1-${name}-d on 1`, `posted good2-${name}-d on 2`]);
      await courier.stop();
    }
  });

  it('posts the others within seconds when a target refuses six messages, one at a time or four', async () => {
    const seconds = [];
    for (const mostAtOnce of [1, 4]) {
      const { courier, board } = startCourier([new NoteBoardAdapter('board', {}, mostAtOnce)]);
      board.answer = ({ request }) => (request.taskId.startsWith('bad') ? later : undefined);
      const bad = Array.from({ length: 6 }, (_, index) => parked(`bad${index}-${mostAtOnce}`));
      await keep(courier, ...bad, parked(`good-${mostAtOnce}`));
      const start = clock.now();
      await until(() => board.pinned.length === 1, 60);
      seconds.push((clock.now() - start) / 1_000);
      await keep(courier, ...bad.map(({ id }) => canceled(id)));
      await courier.stop();
    }
    expect(seconds).toEqual([6, 4]);
  });

  it('sends a slow target four posts at once, the nearest deadline first', async () => {
    const { courier, board } = startCourier([new NoteBoardAdapter('board', {}, 4)]);
    board.answer = () => new Promise((done) => clock.setTimeout(() => done(undefined), 800));
    const tasks = ids(0, 60).map((id, index) => parked(id, { expiresAt: 100_000 - index }));
    await keep(courier, ...tasks);
    await until(() => board.pinned.length === 60, 20);
    expect([board.pinned.map(({ deferralId }) => deferralId), board.calls.mostOfOne]).toEqual([
      ids(0, 60)
        .toReversed()
        .map((id) => `${id}-d`),
      4,
    ]);
  });

  it('tries an unreachable target with one message every five seconds, and logs it twice', async () => {
    const { courier, board, logged } = startCourier([new NoteBoardAdapter('board', {}, 4)]);
    board.answer = () => later;
    await keep(courier, ...ids(0, 1_000).map((id) => parked(id)));
    await until(() => clock.now() === 600_000, 600);
    const during = [board.calls.all < 140, courier.live <= longestQuarantine + 4, logged.length];
    board.answer = () => undefined;
    await until(() => isDone(courier), 70);
    expect([during, board.pinned.length]).toEqual([[true, true, 4], 1_000]);
  });

  it('logs once that a target accepts its messages slowly, not for each', async () => {
    const { courier, board, logged } = startCourier();
    board.answer = oneEvery(1_000, clock);
    await keep(courier, ...ids(0, 20).map((id) => parked(id)));
    await until(() => board.pinned.length === 20);
    await until(() => clock.now() > 60_000);
    const slow = [
      'info',
      { target: board1, error: 'too many' },
      'approvals: a target is rate limited',
    ];
    const once = [...logged];
    await keep(courier, parked('x'));
    await turns();
    await keep(courier, parked('y'), parked('z'));
    await until(() => board.pinned.length === 23);
    expect([once, logged]).toEqual([[slow], [slow, slow]]);
  });

  it('posts again when an adapter does not answer', async () => {
    const { courier, board } = startCourier();
    board.answer = () => new Promise(() => undefined);
    await keep(courier, parked('a'));
    await turns();
    board.answer = () => undefined;
    clock.advance(patience);
    await turns();
    clock.advance(1_000);
    await turns();
    expect(did(board)).toEqual(['posted a-d on 1']);
  });

  it('closes a message that is refused permanently, and continues with the next', async () => {
    const { courier, board } = startCourier();
    board.answer = ({ request }) =>
      request.taskId === 'a' ? new DeliveryError('too long', { fault: 'message' }) : undefined;
    await keep(courier, parked('a'), parked('b'));
    await turns(16);
    await keep(courier, canceled('a'), canceled('b'));
    await turns(16);
    expect([did(board), await courier.pending()]).toEqual([
      ['posted b-d on 1', 'ended b-d on 1'],
      [],
    ]);
  });

  it('finishes a post whose board is lost during it, starts no other, and does not repeat it', async () => {
    const { courier, board } = startCourier();
    const post = Promise.withResolvers<void>();
    board.answer = () => post.promise;
    await keep(courier, parked('a'), parked('b'), parked('c', { to: 'channel:board:two' }));
    await turns();
    board.become('backoff');
    const during = courier.live;
    post.resolve();
    await turns();
    const down = [did(board), courier.live];
    await keep(courier, canceled('a'));
    board.become('connected');
    await turns(16);
    expect([during, down, did(board).slice(2).toSorted()]).toEqual([
      2,
      [['posted a-d on 1', 'posted c-d on 2'], 0],
      ['ended a-d on 1', 'posted b-d on 3'],
    ]);
  });

  it('drops the pauses of a lost board, and starts again when it is back', async () => {
    const { courier, board } = startCourier();
    board.answer = () => later;
    await keep(courier, parked('a'));
    await turns();
    const before = [courier.live, clock.pending];
    board.become('failed');
    const down = [courier.live, clock.pending];
    board.answer = () => undefined;
    board.become('draining');
    await turns();
    expect([before, down, did(board)]).toEqual([[1, 1], [0, 0], ['posted a-d on 1']]);
  });

  it('posts nothing twice while the store cannot keep the place of a message', async () => {
    const { courier, board, logged } = startCourier();
    const other = new DatabaseSync(storeFiles(folder).path);
    undo.push(() => other.close());
    other.exec(`CREATE TRIGGER full BEFORE UPDATE ON approval_notices WHEN NEW.ref IS NOT NULL
      BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`);
    await keep(courier, parked('a'), parked('b'));
    await until(() => clock.now() === 30_000, 30);
    const full = did(board);
    const found = await Promise.all(['a-d', 'b-d'].map((id) => courier.find(id, 'board')));
    const places = found.map(([row]) => row?.ref);
    const complaints = logged.length;
    other.exec('DROP TRIGGER full');
    await until(() => isDone(courier), 20);
    expect([full, places, complaints > 1, did(board)]).toEqual([
      ['posted a-d on 1'],
      [{ note: 1 }, null],
      true,
      ['posted a-d on 1', 'posted b-d on 2'],
    ]);
  });

  it('catches up when a store that failed at the start works again', async () => {
    await keep(null, parked('a'), parked('b'));
    const other = new DatabaseSync(storeFiles(folder).path);
    undo.push(() => other.close());
    other.exec(`UPDATE approval_notices SET is_posted = 1, ref = '{"note":7}', due = 0
      WHERE task_id = 'b'`);
    vi.spyOn(store.approvals, 'waiting').mockRejectedValueOnce(new Error('the disk failed'));
    const { courier, board } = startCourier();
    await turns();
    expect(did(board)).toEqual([]);
    clock.advance(5_000);
    await turns();
    await keep(courier, canceled('b'));
    await turns();
    expect(did(board)).toEqual(['posted a-d on 1', 'ended b-d on 7']);
  });

  it('continues after a restart, and posts the call that was held during the stop', async () => {
    const first = startCourier();
    await keep(first.courier, parked('a'), parked('b'));
    await turns(16);
    await first.courier.stop();
    await keep(first.courier, canceled('a'), parked('c'));
    await turns();
    expect([did(first.board), first.board.isStopped]).toEqual([
      ['posted a-d on 1', 'posted b-d on 2'],
      true,
    ]);
    const { courier, board } = startCourier();
    await turns(16);
    await keep(courier, canceled('b'));
    await turns(16);
    expect(did(board).toSorted()).toEqual(['ended a-d on 1', 'ended b-d on 2', 'posted c-d on 1']);
  });

  it('finishes a post in progress when it stops, and stores its place', async () => {
    const { courier, board } = startCourier();
    const post = Promise.withResolvers<void>();
    board.answer = () => post.promise;
    await keep(courier, parked('a'), parked('b'));
    await turns();
    const stopped = courier.stop();
    post.resolve();
    await stopped;
    expect([
      did(board),
      (await store.approvals.find('a-d', 'board'))[0]?.ref,
      (await store.approvals.find('b-d', 'board'))[0]?.ref,
      clock.pending,
    ]).toEqual([['posted a-d on 1'], { note: 1 }, null, 0]);
  });

  it('stops with or without its adapters', async () => {
    const { courier, board } = startCourier();
    const never = new Promise<void>(() => undefined);
    board.stop = () => never;
    const stopped = courier.stop().then(() => 'stopped');
    await turns();
    clock.advance(5_000);
    expect(await Promise.race([stopped, turns().then(() => 'waits')])).toBe('stopped');
  });

  it('waits at most two seconds for an adapter to stop', async () => {
    const { courier, board } = startCourier();
    board.answer = () => new Promise(() => undefined);
    await keep(courier, parked('a'));
    await turns();
    const stopped = courier.stop();
    clock.advance(2_000);
    await stopped;
    await turns();
    expect([courier.live, clock.pending, board.isStopped]).toEqual([0, 0, true]);
  });
});
