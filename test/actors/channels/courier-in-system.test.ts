import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ApprovalCourier } from '../../../src/actors/channels/approval-courier.ts';
import { allTasks } from '../../../src/actors/tasks/tasks.ts';
import type { Task } from '../../../src/machines/domain/task.ts';
import { NoteBoardAdapter } from '../../helpers/note-board-adapter.ts';
import { decision, ends, parks, playing, toolCalled } from '../../helpers/system-story.ts';
import {
  copyFiles,
  nine,
  openSystem,
  type TestSystem,
  type TestSystemOptions,
} from '../../helpers/test-system.ts';

const pay = { to: 'channel:board:one', timeout: '5m' };

/** A task system whose approvers read a board. */
async function systemWithBoard(more: TestSystemOptions = {}) {
  const board = new NoteBoardAdapter();
  const tools = [toolCalled('pay')];
  const rig = await openSystem({ tools, deferred: { pay }, isStarted: false, ...more });
  const courier = courierOf(rig, board);
  await rig.system.start();
  courier.start();
  board.become('connected');
  return { ...rig, board, courier };
}

function courierOf({ store, system, clock }: TestSystem, board: NoteBoardAdapter): ApprovalCourier {
  const ignore = () => undefined;
  const log = { info: ignore, warn: ignore, error: ignore };
  const courier = new ApprovalCourier({ rows: store.approvals, adapters: [board], clock, log });
  system.watchers.subscribe(allTasks, { onTask: (task) => courier.changed(task) });
  onTestFinished(() => courier.stop());
  return courier;
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 16; turn += 1) await setImmediate();
}

const outcomes = async ({ store }: TestSystem, id: string) =>
  (await store.approvals.ofTask(id)).map(({ notice }) => notice.outcome);

describe('the posts about the tasks of a system', () => {
  it.each([
    [
      'an approval',
      ({ system, clock }: TestSystem, { id }: Task) =>
        system.decide(id, decision('approve', clock.now())),
      { kind: 'approved', approver: 'ann', note: '', at: nine, outcome: { kind: 'ran' } },
    ],
    [
      'a rejection',
      ({ system, clock }: TestSystem, { id }: Task) =>
        system.decide(id, decision('reject', clock.now(), { note: 'too much' })),
      { kind: 'rejected', approver: 'ann', note: 'too much', at: nine },
    ],
    [
      'a cancel',
      ({ system }: TestSystem, { id }: Task) => system.cancel(id, 'wrong order'),
      { kind: 'canceled', reason: 'wrong order', at: nine },
    ],
    [
      'a disconnected caller',
      ({ system }: TestSystem, { id }: Task) => system.callerLeft(id),
      { kind: 'abandoned', reason: 'caller_disconnected', at: nine },
    ],
    [
      'the deadline',
      async ({ clock }: TestSystem) => clock.advance(300_000),
      { kind: 'timedOut', at: nine + 300_000 },
    ],
  ])('show the end by %s', async (_, end, outcome) => {
    const rig = await systemWithBoard();
    const task = await parks(rig.system);
    await turns();
    await end(rig, task);
    await ends(rig.system, task.id).catch(() => undefined);
    await turns();
    expect(await outcomes(rig, task.id)).toEqual([outcome]);
    expect(rig.board.pinned.map(({ did, outcome: kind }) => [did, kind])).toEqual([
      ['posted', null],
      ['ended', outcome.kind],
      ...(outcome.kind === 'approved' ? [['finished', outcome.kind]] : []),
    ]);
  });

  it('are one message for each wait of a task', async () => {
    const rig = await systemWithBoard();
    const twice = playing([{ tool: 'pay' }, { tool: 'pay' }, { say: 'done' }]);
    const first = await parks(rig.system, twice);
    await turns();
    await rig.system.decide(first.id, decision('approve', nine));
    await turns();
    await rig.system.decide(first.id, decision('reject', nine, { note: 'once is enough' }));
    await turns();
    expect(await outcomes(rig, first.id)).toEqual([
      { kind: 'approved', approver: 'ann', note: '', at: nine, outcome: { kind: 'ran' } },
      { kind: 'rejected', approver: 'ann', note: 'once is enough', at: nine },
    ]);
    expect(rig.board.pinned.map(({ did, note }) => `${did} ${note}`).toSorted()).toEqual([
      'ended 1',
      'ended 2',
      'finished 1',
      'posted 1',
      'posted 2',
    ]);
  });

  it('show on the earlier message that a restart abandoned a wait', async () => {
    const before = await systemWithBoard();
    const tasks = [];
    for (let count = 0; count < 3; count += 1) tasks.push(await parks(before.system));
    await turns();
    const directory = copyFiles(before.directory);
    const after = await systemWithBoard({ directory, onRestart: 'abandon' });
    await turns();
    expect(before.board.pinned.map(({ note }) => note)).toEqual([1, 2, 3]);
    expect(after.board.pinned).toEqual(
      tasks.map(({ deferral }, index) => ({
        target: 'channel:board:one',
        deferralId: deferral?.id,
        did: 'ended',
        outcome: 'abandoned',
        note: index + 1,
      })),
    );
    expect(await Promise.all(tasks.map(({ id }) => outcomes(after, id)))).toEqual(
      tasks.map(() => [{ kind: 'abandoned', reason: 'service_restart', at: nine }]),
    );
  });

  it('are not repeated when a restart resumes a wait', async () => {
    const before = await systemWithBoard();
    const { id } = await parks(before.system);
    await turns();
    const directory = copyFiles(before.directory);
    const after = await systemWithBoard({ directory, onRestart: 'resume' });
    await turns();
    const resumed = [...after.board.pinned];
    await after.system.decide(id, decision('approve', nine));
    await turns();
    expect([resumed, after.board.pinned.map(({ did, note }) => [did, note])]).toEqual([
      [],
      [
        ['ended', 1],
        ['finished', 1],
      ],
    ]);
  });
});
