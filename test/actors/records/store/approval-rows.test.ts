import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  type ApprovalRow,
  ApprovalRows,
  type ApprovalWrite,
} from '../../../../src/actors/records/store/approval-rows.ts';
import type { TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import type { Task } from '../../../../src/machines/task/task.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { aCaller, aDeferral } from '../../../helpers/task-fixtures.ts';
import { openStore, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';

let folder: string;
let store: TaskStore;

beforeEach(async () => {
  folder = temporaryFolder();
  store = await openStore(folder);
});
afterEach(() => store.close());

function keep(...tasks: Task[]): void {
  for (const task of tasks) void store.save(task.id, () => aWrite(task));
  expect(store.flush()).toBeNull();
}

function parked(overrides: Partial<Task> = {}, deferral = {}): Task {
  const { id = 't-1' } = overrides;
  return aTask({
    state: 'deferred',
    stage: 'asked',
    deferral: aDeferral({ id: `${id}-d`, ...deferral }),
    ...overrides,
  });
}

function told(row: ApprovalRow | undefined, overrides: Partial<ApprovalWrite> = {}): ApprovalWrite {
  if (row === undefined) throw new Error('there is no such row');
  const { position, version, notice } = row;
  return { position, version, ref: null, told: notice, isClosed: false, ...overrides };
}

const slack = 'channel:slack:#refunds';
const unposted = { target: slack, isPosted: false };
const posted = { target: slack, isPosted: true };
const due = () => ({
  unposted: store.approvals.nextDue('slack', unposted)?.notice.request.deferralId,
  posted: store.approvals.nextDue('slack', posted)?.notice.request.deferralId,
});

describe('who is asked for which release, in the store', () => {
  it('holds what approvers are shown from the commit that parks a task, without its arguments', () => {
    keep(parked({ requester: aCaller() }));
    const { args, ...deferral } = aDeferral({ id: 't-1-d' });
    expect(store.approvals.find('t-1-d', 'slack')).toEqual([
      {
        position: 1,
        adapter: 'slack',
        version: 1,
        notice: {
          request: {
            taskId: 't-1',
            deferralId: 't-1-d',
            tool: 'issue_refund',
            context: deferral.context,
            argsSha256: deferral.argsSha256,
            requester: 'rita@example.com',
            target: slack,
            approvers: null,
            quorum: 1,
            fourEyes: false,
            approvals: [],
            stage: 'asked',
            timeout: 300_000,
            requestedAt: deferral.requestedAt,
            expiresAt: deferral.expiresAt,
          },
          outcome: null,
        },
        ref: null,
        told: null,
      },
    ]);
    const database = new DatabaseSync(storeFiles(folder).path);
    const kept = JSON.stringify(database.prepare('SELECT * FROM approval_notices').all());
    database.close();
    expect([Object.keys(args), kept.includes('"args"')]).toEqual([['order'], false]);
  });

  it('knows nothing of tasks that never wait', () => {
    keep(aTask());
    keep(aTask({ revision: 2, state: 'completed' }));
    expect([store.approvals.ofTask('t-1'), store.approvals.backlog()]).toEqual([[], []]);
  });

  it('asks when a task at work is parked', () => {
    keep(aTask());
    keep(parked({ revision: 2 }));
    expect(due()).toEqual({ unposted: 't-1-d', posted: undefined });
  });

  it('gives the oldest of each slot first, slot after slot', () => {
    keep(parked({ id: 'b' }), parked({ id: 'a' }));
    keep(parked({ id: 'c' }, { to: 'channel:slack:C024BE91L' }));
    keep(parked({ id: 'd' }, { to: 'channel:console:*' }));
    store.approvals.keep([told(store.approvals.ofTask('a')[0], { ref: { ts: '1' } })]);
    keep(parked({ id: 'a', revision: 2, stage: 'reminded' }));
    const slots = [];
    let slot = store.approvals.nextSlot('slack', null);
    while (slot !== undefined) {
      const { deferralId } = store.approvals.nextDue('slack', slot)?.notice.request ?? {};
      slots.push([slot.target, slot.isPosted, deferralId]);
      slot = store.approvals.nextSlot('slack', slot);
    }
    expect(slots).toEqual([
      [slack, false, 'b-d'],
      [slack, true, 'a-d'],
      ['channel:slack:C024BE91L', false, 'c-d'],
    ]);
    expect(store.approvals.backlog()).toEqual([
      { adapter: 'console', unposted: 1, stale: 0, oldestAt: 2_000 },
      { adapter: 'slack', unposted: 2, stale: 1, oldestAt: 2_000 },
    ]);
  });

  it('gives the one that is denied first, but for those that are left out', () => {
    const expiring = { late: 9_000, soon: 5_000, next: 7_000, also: 7_000 };
    keep(...Object.entries(expiring).map(([id, expiresAt]) => parked({ id }, { expiresAt })));
    const given: ApprovalRow[] = [];
    for (const _ of [1, 2, 3, 4, 5]) {
      const except = given.map(({ position }) => position);
      const row = store.approvals.nextDue('slack', unposted, except);
      if (row !== undefined) given.push(row);
    }
    expect(given.map(({ notice }) => notice.request.taskId)).toEqual([
      ...['soon', 'next', 'also', 'late'],
    ]);
  });

  it('counts what is due alone, from the oldest on', () => {
    keep(parked({ id: 'b' }, { requestedAt: 3_000 }), parked({ id: 'a' }, { requestedAt: 2_000 }));
    keep(parked({ id: 'c' }, { requestedAt: 1_000 }));
    const [oldest] = store.approvals.ofTask('c');
    store.approvals.keep([told(oldest, { ref: { ts: '1' } })]);
    expect(store.approvals.backlog()).toEqual([
      { adapter: 'slack', unposted: 2, stale: 0, oldestAt: 2_000 },
    ]);
  });

  it('asks the other target as well when an asking is escalated, and once', () => {
    const escalateTo = 'channel:console:night:shift';
    keep(parked({}, { escalateTo }));
    keep(parked({ revision: 2, stage: 'reminded' }, { escalateTo }));
    expect(store.approvals.ofTask('t-1').map(({ adapter }) => adapter)).toEqual(['slack']);
    keep(parked({ revision: 3, stage: 'escalated' }, { escalateTo }));
    keep(parked({ revision: 4, stage: 'escalated' }, { escalateTo }));
    const rows = store.approvals.ofTask('t-1');
    expect(
      rows.map(({ adapter, version, notice }) => [
        adapter,
        version,
        notice.request.target,
        notice.request.stage,
      ]),
    ).toEqual([
      ['slack', 3, slack, 'escalated'],
      ['console', 1, escalateTo, 'escalated'],
    ]);
  });

  it('asks every target of a list, and the one it is escalated to as well', () => {
    const targets = [slack, 'channel:webhook:desk'];
    const asked = { to: targets.join(', '), targets, escalateTo: 'channel:slack:C024BE91L' };
    keep(parked({}, asked));
    const rows = () => store.approvals.ofTask('t-1').map(({ notice }) => notice.request.target);
    expect(rows()).toEqual(targets);
    expect(store.approvals.backlog()).toMatchObject([
      { adapter: 'slack', unposted: 1, stale: 0 },
      { adapter: 'webhook', unposted: 1, stale: 0 },
    ]);
    keep(parked({ revision: 2, stage: 'escalated' }, asked));
    expect(rows()).toEqual([...targets, 'channel:slack:C024BE91L']);
  });

  it('asks every target in a store whose triggers know one alone', async () => {
    store.close();
    const database = new DatabaseSync(storeFiles(folder).path);
    const triggers = ['new', 'changed'].map((name) => `approval_notices_of_${name}`);
    for (const name of triggers) {
      const found = database.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(name);
      const sql = String(found?.['sql']).replaceAll('$.deferral.targets', '$.deferral.nothing');
      database.exec(`DROP TRIGGER ${name}; ${sql}`);
    }
    database.close();
    store = await openStore(folder);
    keep(parked({}, { targets: [slack, 'channel:webhook:desk'] }));
    expect(store.approvals.ofTask('t-1')).toHaveLength(2);
  });

  it('asks the one target of a task that an older version parked', () => {
    const { targets: _, ...deferral } = aDeferral({ id: 't-1-d' });
    keep(aTask({ state: 'deferred', stage: 'asked', deferral }));
    expect(store.approvals.ofTask('t-1').map(({ notice }) => notice.request.target)).toEqual([
      slack,
    ]);
  });

  it('asks a target once that is escalated to itself, and one that names no target', () => {
    keep(parked({ stage: 'escalated' }, { escalateTo: slack }));
    keep(parked({ id: 't-2' }, { to: 'channel:console' }));
    expect(
      ['t-1', 't-2'].map((id) => store.approvals.ofTask(id).map(({ adapter }) => adapter)),
    ).toEqual([['slack'], ['console']]);
  });

  it('is due again when what approvers see changed, and not when something else did', () => {
    keep(parked());
    store.approvals.keep([told(store.approvals.ofTask('t-1')[0], { ref: { ts: '1' } })]);
    const afterPost = due();
    keep(parked({ revision: 2, records: [] }));
    const afterNothing = due();
    keep(parked({ revision: 3 }, { approvals: [{ approver: 'ann@example.com', at: 5 }] }));
    expect([afterPost, afterNothing, due()]).toEqual([
      { unposted: undefined, posted: undefined },
      { unposted: undefined, posted: undefined },
      { unposted: undefined, posted: 't-1-d' },
    ]);
    expect(store.approvals.ofTask('t-1')[0]).toMatchObject({
      version: 2,
      ref: { ts: '1' },
      told: { request: { approvals: [] } },
      notice: { request: { approvals: [{ approver: 'ann@example.com', at: 5 }] } },
    });
  });

  it('stays due when something changed while its target was told', () => {
    keep(parked());
    const [before] = store.approvals.ofTask('t-1');
    keep(parked({ revision: 2, stage: 'reminded' }));
    store.approvals.keep([told(before, { ref: { ts: '1' } })]);
    const between = due();
    store.approvals.keep([told(store.approvals.ofTask('t-1')[0])]);
    expect([between, due(), store.approvals.ofTask('t-1')[0]?.ref]).toEqual([
      { unposted: undefined, posted: 't-1-d' },
      { unposted: undefined, posted: undefined },
      { ts: '1' },
    ]);
    keep(parked({ revision: 3, stage: 'escalated' }));
    expect(due()).toEqual({ unposted: undefined, posted: 't-1-d' });
  });

  it('tells those who were asked how it ended, and nobody who was not', () => {
    keep(parked({ id: 'asked' }), parked({ id: 'unasked' }));
    store.approvals.keep([told(store.approvals.ofTask('asked')[0], { ref: { ts: '1' } })]);
    const failure = { kind: 'timedOut', tool: 'issue_refund', text: 'defer: no decision' } as const;
    const over = { revision: 2, state: 'failed', failure, changedAt: 9_000 } as const;
    keep(aTask({ id: 'asked', ...over }), aTask({ id: 'unasked', ...over }));
    expect(due()).toEqual({ unposted: undefined, posted: 'asked-d' });
    expect(
      ['asked', 'unasked'].map((id) => store.approvals.find(`${id}-d`, 'slack')[0]?.notice.outcome),
    ).toEqual([
      { kind: 'timedOut', at: 9_000 },
      { kind: 'timedOut', at: 9_000 },
    ]);
  });

  it('still tells of the end when a post was under way at that moment', () => {
    keep(parked());
    const [under] = store.approvals.ofTask('t-1');
    keep(aTask({ revision: 2, state: 'canceled', text: 'canceled: by rita' }));
    store.approvals.keep([told(under, { ref: { ts: '1' } })]);
    expect(due()).toEqual({ unposted: undefined, posted: 't-1-d' });
  });

  it('keeps how the first wait of a task ended when it waits again', () => {
    keep(parked({}, { id: 'd-1' }));
    store.approvals.keep([told(store.approvals.ofTask('t-1')[0], { ref: { ts: '1' } })]);
    const settled = {
      id: 'd-1',
      tool: 'issue_refund',
      argsSha256: 'a1',
      decision: 'approve',
      approver: 'ann@example.com',
      note: '',
      decidedAt: 4_000,
    } as const;
    keep(aTask({ revision: 2, settled }));
    keep(parked({ revision: 3 }, { id: 'd-2' }));
    expect(
      store.approvals
        .ofTask('t-1')
        .map(({ notice }) => [notice.request.deferralId, notice.outcome]),
    ).toEqual([
      ['d-1', { kind: 'approved', approver: 'ann@example.com', note: '', at: 4_000 }],
      ['d-2', null],
    ]);
    expect([due(), store.approvals.waiting()]).toEqual([
      { unposted: 'd-2', posted: 'd-1' },
      ['t-1'],
    ]);
  });

  it('is queued for a later wait of a task, whose earlier one has its own', () => {
    keep(parked({}, { id: 'd-1' }));
    keep(aTask({ revision: 2 }));
    keep(parked({ revision: 3 }, { id: 'd-2' }));
    const database = new DatabaseSync(storeFiles(folder).path);
    database.exec("DELETE FROM approval_notices WHERE deferral_id = 'd-2'");
    database.close();
    expect([store.approvals.queueUnasked(), store.approvals.queueUnasked()]).toEqual([1, 0]);
    expect(store.approvals.find('d-2', 'slack')).toHaveLength(1);
  });

  it('is never due again once it is closed', () => {
    keep(parked());
    store.approvals.keep([told(store.approvals.ofTask('t-1')[0], { isClosed: true })]);
    keep(parked({ revision: 2, stage: 'reminded' }));
    const reminded = due();
    keep(aTask({ revision: 3, state: 'canceled', text: 'canceled: by rita' }));
    const nothing = { unposted: undefined, posted: undefined };
    expect([reminded, due(), store.approvals.waiting()]).toEqual([nothing, nothing, []]);
  });

  it('is not due when it is closed while something changes', () => {
    keep(parked());
    const [before] = store.approvals.ofTask('t-1');
    keep(parked({ revision: 2, stage: 'reminded' }));
    store.approvals.keep([told(before, { isClosed: true })]);
    expect([due(), store.approvals.backlog()]).toEqual([
      { unposted: undefined, posted: undefined },
      [],
    ]);
  });

  it('keeps all that was told or nothing of it, and waits for the disk with whatever comes next', () => {
    keep(parked());
    const database = new DatabaseSync(storeFiles(folder).path);
    onTestFinished(() => database.close());
    const approvals = new ApprovalRows(database);
    const [row] = approvals.ofTask('t-1');
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const writes = [
      told(row, { ref: { ts: '1' } }),
      told(row, { told: circular as unknown as ApprovalWrite['told'] }),
    ];
    expect(() => approvals.keep(writes)).toThrow('circular');
    const settings = () => [
      database.isTransaction,
      database.prepare('PRAGMA synchronous').get()?.['synchronous'],
    ];
    expect([approvals.ofTask('t-1'), settings()]).toEqual([[row], [false, 2]]);
    approvals.keep([told(row, { ref: { ts: '1' } })]);
    expect([approvals.ofTask('t-1')[0]?.ref, settings()]).toEqual([{ ts: '1' }, [false, 2]]);
  });

  it('goes with its task', () => {
    keep(parked(), parked({ id: 't-2' }));
    keep(aTask({ revision: 2, state: 'completed', changedAt: 1 }));
    expect(store.deleteEnded(2)).toBe(1);
    expect(['t-1', 't-2'].map((id) => store.approvals.ofTask(id).length)).toEqual([0, 1]);
  });

  it('saves a task that is nested too deeply to be read by the store, and the others with it', () => {
    let args: object = {};
    for (let level = 0; level < 1_200; level += 1) args = { args };
    keep(parked({}, { args }), parked({ id: 't-2' }));
    keep(aTask({ revision: 2, state: 'canceled' }), parked({ id: 't-2', revision: 2 }));
    expect(['t-1', 't-2'].map((id) => store.approvals.ofTask(id).length)).toEqual([0, 1]);
  });

  it('survives a restart, and queues notices for what an older version had parked', async () => {
    keep(
      parked(),
      parked({ id: 'older', stage: 'escalated' }, { escalateTo: 'channel:console:*' }),
    );
    const ref = { channel: 'C1', ts: '1.2' };
    store.approvals.keep([told(store.approvals.ofTask('t-1')[0], { ref })]);
    const [kept] = store.approvals.ofTask('t-1');
    store.close();
    const database = new DatabaseSync(storeFiles(folder).path);
    database.exec("DELETE FROM approval_notices WHERE task_id = 'older'");
    database.close();
    store = await openStore(folder);
    const queued = [store.approvals.queueUnasked(), store.approvals.queueUnasked()];
    expect([queued, store.approvals.ofTask('t-1')]).toEqual([[2, 0], [kept]]);
    expect(kept).toMatchObject({ ref, told: kept?.notice });
    expect(store.approvals.find('older-d', 'console')).toHaveLength(1);
    expect(store.approvals.waiting().toSorted()).toEqual(['older', 't-1']);
  });
});
