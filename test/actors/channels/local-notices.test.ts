import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LocalNotices } from '../../../src/actors/channels/local-notices.ts';
import type { Deferral, Task } from '../../../src/machines/domain/task.ts';
import { NoteBoardAdapter } from '../../helpers/note-board-adapter.ts';
import { aTask } from '../../helpers/stored-tasks.ts';
import { aDeferral } from '../../helpers/task-fixtures.ts';

const console = 'channel:console:*';

/** Boards that stand for the console and the dashboard, with what was logged. */
function aDesk() {
  const boards = [new NoteBoardAdapter('console'), new NoteBoardAdapter('dashboard')] as const;
  const logged: string[] = [];
  const log = {
    info: () => undefined,
    warn: (_: object, message: string) => void logged.push(message),
    error: (_: object, message: string) => void logged.push(message),
  };
  const notices = new LocalNotices({ adapters: boards, log });
  const said = async (board: NoteBoardAdapter = boards[0]) => {
    await setImmediate();
    return board.pinned.map(({ did, deferralId, target, outcome }) =>
      [did, deferralId, target.slice(8), outcome].filter((each) => each !== null).join(' '),
    );
  };
  return { notices, boards, logged, said };
}

function waiting(deferral: Partial<Deferral> = {}, more: Partial<Task> = {}): Task {
  const held = aDeferral({ id: 'd-1', to: console, ...deferral });
  return aTask({ state: 'deferred', deferral: held, stage: 'asked', ...more });
}

const settled = {
  id: 'd-1',
  tool: 'issue_refund',
  argsSha256: '',
  decision: 'approve',
  approver: 'ann',
  note: '',
  decidedAt: 2_000,
} as const;

it('a notice is sent once for a wait, and once for its end', async () => {
  const { notices, said } = aDesk();
  notices.changed(aTask());
  notices.changed(waiting());
  notices.changed(waiting({}, { revision: 2 }));
  notices.changed(aTask({ settled, revision: 3 }));
  notices.changed(aTask({ state: 'completed', settled, revision: 4 }));
  expect(await said()).toEqual(['posted d-1 console:*', 'ended d-1 console:* approved']);
});

it('a notice goes to every target of a waiting task', async () => {
  const { notices, boards, said } = aDesk();
  const targets = [console, 'channel:dashboard:*', 'channel:console:desk'];
  notices.changed(waiting({ to: targets.join(', '), targets }));
  expect(await said()).toEqual(['posted d-1 console:*', 'posted d-1 console:desk']);
  expect(await said(boards[1])).toEqual(['posted d-1 dashboard:*']);
});

it('a notice about another call of a task is sent at once', async () => {
  const { notices, said } = aDesk();
  notices.changed(waiting());
  notices.changed(waiting({ id: 'd-2' }, { settled }));
  notices.changed(aTask({ state: 'failed', settled: null }));
  expect(await said()).toEqual([
    'posted d-1 console:*',
    'ended d-1 console:* approved',
    'posted d-2 console:*',
    'ended d-2 console:* canceled',
  ]);
});

it('a notice is sent for news and for escalation targets', async () => {
  const { notices, boards, said } = aDesk();
  const escalateTo = 'channel:dashboard:managers';
  const approvals = [{ approver: 'ann', at: 1 }];
  notices.changed(waiting({ quorum: 2, escalateTo }));
  notices.changed(waiting({ quorum: 2, escalateTo, approvals }));
  notices.changed(waiting({ quorum: 2, escalateTo, approvals }, { stage: 'reminded' }));
  notices.changed(waiting({ quorum: 2, escalateTo, approvals }, { stage: 'escalated' }));
  expect(await said()).toEqual([
    'posted d-1 console:*',
    'counted d-1 console:*',
    'reminded d-1 console:*',
    'changed d-1 console:*',
  ]);
  expect(await said(boards[1])).toEqual(['posted d-1 dashboard:managers']);
});

it('a notice to another channel is left to that channel', async () => {
  const { notices, boards, said } = aDesk();
  notices.changed(waiting({ to: 'channel:slack:#refunds' }));
  notices.changed(aTask({ settled }));
  expect([await said(), await said(boards[1])]).toEqual([[], []]);
});

it('a notice is sent for calls that wait at the start', async () => {
  const { notices, said } = aDesk();
  await notices.start(async () => [waiting()]);
  notices.changed(aTask({ settled }));
  expect(await said()).toEqual(['posted d-1 console:*', 'ended d-1 console:* approved']);
});

it('a change that arrives during the first read wins over the read', async () => {
  const { notices, said } = aDesk();
  const reading = Promise.withResolvers<Task[]>();
  const started = notices.start(() => reading.promise);
  const other = waiting({ id: 'd-2' }, { id: 't-2' });
  notices.changed({ ...other, stage: 'reminded', revision: 2 });
  notices.changed(aTask({ settled, revision: 2 }));
  reading.resolve([waiting(), other, waiting({ id: 'd-3' }, { id: 't-3' })]);
  await started;
  expect(await said()).toEqual(['posted d-2 console:*', 'posted d-3 console:*']);
});

it('no notice is sent for rows read after the stop', async () => {
  const { notices, said } = aDesk();
  const reading = Promise.withResolvers<Task[]>();
  const started = notices.start(() => reading.promise);
  await notices.stop();
  reading.resolve([waiting()]);
  await started;
  expect(await said()).toEqual([]);
});

it('notices continue when the waiting tasks cannot be read', async () => {
  const { notices, logged, said } = aDesk();
  await notices.start(() => Promise.reject(new Error('the server is gone')));
  notices.changed(waiting());
  expect([await said(), logged]).toEqual([
    ['posted d-1 console:*'],
    ['approvals: no local approver was notified of calls that are already waiting'],
  ]);
});

it('notices continue when no target is reachable', async () => {
  const { notices, boards, logged, said } = aDesk();
  boards[0].answer = () => new Error('the console is closed');
  notices.changed(waiting());
  await setImmediate();
  boards[0].answer = () => undefined;
  notices.changed(aTask({ settled }));
  expect(await said()).toEqual(['ended d-1 console:* approved']);
  expect(logged).toEqual(['approvals: no local approver could be notified of a call']);
});

it('the adapters are closed at the end', async () => {
  const { notices, boards } = aDesk();
  await notices.stop();
  expect(boards.map(({ isStopped }) => isStopped)).toEqual([true, true]);
});
