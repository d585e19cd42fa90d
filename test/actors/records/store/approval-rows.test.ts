import { beforeEach, describe, expect, it } from 'vitest';
import type {
  ApprovalRow,
  ApprovalWrite,
} from '../../../../src/actors/records/store/approval-rows.ts';
import type { TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import type { SettledDeferral, Task } from '../../../../src/machines/domain/task.ts';
import { keepTasks } from '../../../helpers/keep-tasks.ts';
import { kindsOfStores, type StorePlace } from '../../../helpers/kinds-of-stores.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { aCaller, aDeferral } from '../../../helpers/task-fixtures.ts';

describe.each(kindsOfStores)('$kind', ({ make }) => {
  let place: StorePlace;
  let store: TaskStore;

  beforeEach(async () => {
    place = await make();
    store = await place.open();
  });

  const keep = (...tasks: Task[]): Promise<void> => keepTasks(store, tasks);

  function parked(overrides: Partial<Task> = {}, deferral = {}): Task {
    const { id = 't-1' } = overrides;
    return aTask({
      state: 'deferred',
      stage: 'asked',
      deferral: aDeferral({ id: `${id}-d`, ...deferral }),
      ...overrides,
    });
  }

  function told(
    row: ApprovalRow | undefined,
    overrides: Partial<ApprovalWrite> = {},
  ): ApprovalWrite {
    if (row === undefined) throw new Error('there is no such row');
    const { position, version, notice } = row;
    return { position, version, ref: null, told: notice, isClosed: false, ...overrides };
  }

  const slack = 'channel:slack:#refunds';
  const unposted = { target: slack, isPosted: false };
  const posted = { target: slack, isPosted: true };
  const due = async () => ({
    unposted: (await store.approvals.nextDue('slack', unposted))?.notice.request.deferralId,
    posted: (await store.approvals.nextDue('slack', posted))?.notice.request.deferralId,
  });

  describe('a task with large arguments', () => {
    const args = { order_id: 'A-1', note: 'x'.repeat(20_000) };
    const context = `issue_refund args=${JSON.stringify(args)}`;
    const large = parked({}, { args, shown: { ...args }, context });
    const values = () => place.execute('SELECT value FROM task_values');

    it('is read as it was written, with its notices and the messages about them', async () => {
      await keep(large);
      expect(await store.rows.find('t-1')).toEqual(large);
      const [row] = await store.approvals.ofTask('t-1');
      expect(row?.notice.request).toMatchObject({ args, context });
      await store.approvals.keep([told(row, { ref: { ts: '1' } })]);
      const [posted] = await store.approvals.ofTask('t-1');
      expect(posted?.told).toEqual(row?.notice);
      expect(await values()).toEqual([{ value: JSON.stringify(args) }]);
    });

    it('keeps a value as long as a notice refers to it, and drops every other', async () => {
      const said = { note: 'y'.repeat(20_000) };
      const history = [
        {
          role: 'user' as const,
          messageId: 'm',
          parts: [{ kind: 'data' as const, data: { args: said } }],
        },
      ];
      await keep({ ...large, history }, parked({ id: 't-2' }));
      expect(await values()).toHaveLength(2);
      await keep(aTask({ state: 'canceled', revision: 2 }));
      expect(await values()).toEqual([{ value: JSON.stringify(args) }]);
      const [row] = await store.approvals.ofTask('t-1');
      expect(row?.notice).toMatchObject({
        request: { args, context },
        outcome: { kind: 'canceled' },
      });
    });

    it('is not mixed up with arguments that look like a reference, in a notice or a message', async () => {
      await keep(large);
      const [{ digest }] = (await place.execute('SELECT digest FROM task_values')) as [
        { digest: string },
      ];
      const lookAlikes = [{ '@shared': digest }, { '@shared': 'f' }, { '@shared': 5 }];
      for (const [at, lookAlike] of lookAlikes.entries()) {
        const next = { order_id: 'A-1', args: lookAlike };
        const change = { args: next, shown: next, context: 'pay', id: `d-${at}` };
        await keep(parked({ revision: at + 2 }, change));
        const row = (await store.approvals.ofTask('t-1')).at(-1);
        expect(row?.notice.request.args).toEqual(next);
        await store.approvals.keep([told(row, { ref: { ts: `${at}` } })]);
        expect((await store.approvals.ofTask('t-1')).at(-1)?.told).toEqual(row?.notice);
      }
    });

    it('is unreadable without its values, and never read as something else', async () => {
      await keep(large);
      await place.execute('DELETE FROM task_values');
      expect(await store.rows.read('t-1')).toMatchObject({ unreadable: 'deferred' });
      await expect(store.approvals.ofTask('t-1')).rejects.toThrow('a row lacks the value');
    });

    it('reads only the values to which a row refers', async () => {
      await keep(large);
      const next = { order_id: 'A-2', note: 'y'.repeat(20_000) };
      await keep(parked({ revision: 2 }, { args: next, shown: next, context: 'pay', id: 'd-2' }));
      expect(await values()).toHaveLength(2);
      const read = (await store.approvals.ofTask('t-1')).map(({ notice }) => notice.request.args);
      expect(read).toEqual([args, next]);
    });

    it('drops its values with the task', async () => {
      await keep(large);
      await keep(aTask({ state: 'canceled', revision: 2, changedAt: 1 }));
      expect(await store.deleteEnded(2)).toBe(1);
      expect(await values()).toEqual([]);
    });
  });

  describe('the approval messages in the store', () => {
    it('are found by place, and an uncertain one is updated while it waits', async () => {
      const ref = { channel: 'C1', ts: '1.5' };
      await keep(parked());
      const [row] = await store.approvals.find('t-1-d', 'slack');
      await store.approvals.keep([told(row, { ref })]);
      expect(await store.approvals.findAt('slack', { ...ref, ts: '2' })).toBeUndefined();
      const found = await store.approvals.findAt('slack', ref);
      expect(found).toMatchObject({ ref, notice: row?.notice });
      expect(await due()).toEqual({ unposted: undefined, posted: undefined });
      await store.approvals.doubt(found?.position ?? 0);
      expect(await due()).toEqual({ unposted: undefined, posted: 't-1-d' });
      expect(await store.approvals.findAt('slack', ref)).toMatchObject({ ref, told: null });
      await store.approvals.keep([told(row, { version: 9, isClosed: true })]);
      await store.approvals.doubt(found?.position ?? 0);
      expect(await due()).toEqual({ unposted: undefined, posted: undefined });
    });

    it('contain what approvers see from the commit that parks a task, without its arguments', async () => {
      await keep(parked({ requester: aCaller() }));
      const { args, ...deferral } = aDeferral({ id: 't-1-d' });
      expect(await store.approvals.find('t-1-d', 'slack')).toEqual([
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
              args: { order: 7 },
              argsSha256: deferral.argsSha256,
              requester: 'rita@example.com',
              target: slack,
              approvers: null,
              quorum: 1,
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
      const kept = JSON.stringify(await place.execute('SELECT * FROM approval_notices'));
      expect([Object.keys(args), kept.includes('"args"')]).toEqual([['order'], false]);
    });

    it('do not include tasks that never wait', async () => {
      await keep(aTask());
      await keep(aTask({ revision: 2, state: 'completed' }));
      expect([await store.approvals.ofTask('t-1'), await store.approvals.backlog()]).toEqual([
        [],
        [],
      ]);
    });

    it('are created when a running task is parked', async () => {
      await keep(aTask());
      await keep(parked({ revision: 2 }));
      expect(await due()).toEqual({ unposted: 't-1-d', posted: undefined });
    });

    it('are returned oldest first for each slot, slot after slot', async () => {
      await keep(parked({ id: 'b' }), parked({ id: 'a' }));
      await keep(parked({ id: 'c' }, { to: 'channel:slack:C024BE91L' }));
      await keep(parked({ id: 'd' }, { to: 'channel:console:*' }));
      await store.approvals.keep([
        told((await store.approvals.ofTask('a'))[0], { ref: { ts: '1' } }),
      ]);
      await keep(parked({ id: 'a', revision: 2, stage: 'reminded' }));
      const slots = [];
      let slot = await store.approvals.nextSlot('slack', null);
      while (slot !== undefined) {
        const { deferralId } = (await store.approvals.nextDue('slack', slot))?.notice.request ?? {};
        slots.push([slot.target, slot.isPosted, deferralId]);
        slot = await store.approvals.nextSlot('slack', slot);
      }
      expect(slots).toEqual([
        [slack, false, 'b-d'],
        [slack, true, 'a-d'],
        ['channel:slack:C024BE91L', false, 'c-d'],
      ]);
      expect(await store.approvals.backlog()).toEqual([
        { adapter: 'console', unposted: 1, stale: 0, oldestAt: 2_000 },
        { adapter: 'slack', unposted: 2, stale: 1, oldestAt: 2_000 },
      ]);
    });

    it('are returned by the nearest deadline, except skipped ones', async () => {
      const expiring = { late: 9_000, soon: 5_000, next: 7_000, also: 7_000 };
      await keep(
        ...Object.entries(expiring).map(([id, expiresAt]) => parked({ id }, { expiresAt })),
      );
      const given: ApprovalRow[] = [];
      for (const _ of [1, 2, 3, 4, 5]) {
        const except = given.map(({ position }) => position);
        const row = await store.approvals.nextDue('slack', unposted, except);
        if (row !== undefined) given.push(row);
      }
      expect(given.map(({ notice }) => notice.request.taskId)).toEqual([
        ...['soon', 'next', 'also', 'late'],
      ]);
    });

    it('count only due ones, from the oldest on', async () => {
      await keep(
        parked({ id: 'b' }, { requestedAt: 3_000 }),
        parked({ id: 'a' }, { requestedAt: 2_000 }),
      );
      await keep(parked({ id: 'c' }, { requestedAt: 1_000 }));
      const [oldest] = await store.approvals.ofTask('c');
      await store.approvals.keep([told(oldest, { ref: { ts: '1' } })]);
      expect(await store.approvals.backlog()).toEqual([
        { adapter: 'slack', unposted: 2, stale: 0, oldestAt: 2_000 },
      ]);
    });

    it('are created once for the escalation target', async () => {
      const escalateTo = 'channel:console:night:shift';
      await keep(parked({}, { escalateTo }));
      await keep(parked({ revision: 2, stage: 'reminded' }, { escalateTo }));
      expect((await store.approvals.ofTask('t-1')).map(({ adapter }) => adapter)).toEqual([
        'slack',
      ]);
      await keep(parked({ revision: 3, stage: 'escalated' }, { escalateTo }));
      await keep(parked({ revision: 4, stage: 'escalated' }, { escalateTo }));
      const rows = await store.approvals.ofTask('t-1');
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

    it('are created for every target of a list, and for the escalation target as well', async () => {
      const targets = [slack, 'channel:webhook:desk'];
      const asked = { to: targets.join(', '), targets, escalateTo: 'channel:slack:C024BE91L' };
      await keep(parked({}, asked));
      const rows = async () =>
        (await store.approvals.ofTask('t-1')).map(({ notice }) => notice.request.target);
      expect(await rows()).toEqual(targets);
      expect(await store.approvals.backlog()).toMatchObject([
        { adapter: 'slack', unposted: 1, stale: 0 },
        { adapter: 'webhook', unposted: 1, stale: 0 },
      ]);
      await keep(parked({ revision: 2, stage: 'escalated' }, asked));
      expect(await rows()).toEqual([...targets, 'channel:slack:C024BE91L']);
    });

    it('are created once for a target that escalates to itself, and one without a target', async () => {
      await keep(parked({ stage: 'escalated' }, { escalateTo: slack }));
      await keep(parked({ id: 't-2' }, { to: 'channel:console' }));
      expect(
        await Promise.all(
          ['t-1', 't-2'].map(async (id) =>
            (await store.approvals.ofTask(id)).map(({ adapter }) => adapter),
          ),
        ),
      ).toEqual([['slack'], ['console']]);
    });

    it('are due again when what approvers see changed, and not after other changes', async () => {
      await keep(parked());
      await store.approvals.keep([
        told((await store.approvals.ofTask('t-1'))[0], { ref: { ts: '1' } }),
      ]);
      const afterPost = await due();
      await keep(parked({ revision: 2, records: [] }));
      const afterNothing = await due();
      await keep(parked({ revision: 3 }, { approvals: [{ approver: 'ann@example.com', at: 5 }] }));
      expect([afterPost, afterNothing, await due()]).toEqual([
        { unposted: undefined, posted: undefined },
        { unposted: undefined, posted: undefined },
        { unposted: undefined, posted: 't-1-d' },
      ]);
      expect((await store.approvals.ofTask('t-1'))[0]).toMatchObject({
        version: 2,
        ref: { ts: '1' },
        told: { request: { approvals: [] } },
        notice: { request: { approvals: [{ approver: 'ann@example.com', at: 5 }] } },
      });
    });

    it('stay due after a change during the post', async () => {
      await keep(parked());
      const [before] = await store.approvals.ofTask('t-1');
      await keep(parked({ revision: 2, stage: 'reminded' }));
      await store.approvals.keep([told(before, { ref: { ts: '1' } })]);
      const between = await due();
      await store.approvals.keep([told((await store.approvals.ofTask('t-1'))[0])]);
      expect([between, await due(), (await store.approvals.ofTask('t-1'))[0]?.ref]).toEqual([
        { unposted: undefined, posted: 't-1-d' },
        { unposted: undefined, posted: undefined },
        { ts: '1' },
      ]);
      await keep(parked({ revision: 3, stage: 'escalated' }));
      expect(await due()).toEqual({ unposted: undefined, posted: 't-1-d' });
    });

    it('show the end to the asked targets, and to no others', async () => {
      await keep(parked({ id: 'asked' }), parked({ id: 'unasked' }));
      await store.approvals.keep([
        told((await store.approvals.ofTask('asked'))[0], { ref: { ts: '1' } }),
      ]);
      const failure = {
        kind: 'timedOut',
        tool: 'issue_refund',
        text: 'defer: no decision',
      } as const;
      const over = { revision: 2, state: 'failed', failure, changedAt: 9_000 } as const;
      await keep(aTask({ id: 'asked', ...over }), aTask({ id: 'unasked', ...over }));
      expect(await due()).toEqual({ unposted: undefined, posted: 'asked-d' });
      expect(
        await Promise.all(
          ['asked', 'unasked'].map(
            async (id) => (await store.approvals.find(`${id}-d`, 'slack'))[0]?.notice.outcome,
          ),
        ),
      ).toEqual([
        { kind: 'timedOut', at: 9_000 },
        { kind: 'timedOut', at: 9_000 },
      ]);
    });

    it('show the outcome of the call to targets that saw its approval', async () => {
      await keep(parked({ id: 'asked' }), parked({ id: 'unasked' }));
      await store.approvals.keep([
        told((await store.approvals.ofTask('asked'))[0], { ref: { ts: '1' } }),
      ]);
      const ids = ['asked', 'unasked'];
      const settled = (id: string): SettledDeferral => ({
        ...{ id: `${id}-d`, tool: 'pay', argsSha256: '', approver: 'Ann', note: '"}' },
        ...{ decision: 'approve', decidedAt: 8_000 },
      });
      const working = (id: string) =>
        aTask({ id, revision: 2, state: 'working', settled: settled(id) });
      await keep(...ids.map(working));
      await store.approvals.keep([
        told((await store.approvals.ofTask('asked'))[0], { isClosed: false }),
      ]);
      const between = await due();
      const outcome = { kind: 'failed', error: 'no } "route' } as const;
      for (const id of ids) {
        const change = { ...working(id), revision: 3 };
        await store.save(id, () =>
          aWrite(change, { outcomes: [{ ...settled(id), by: [], outcome }] }),
        );
      }
      await store.flush();
      const end = { kind: 'approved', approver: 'Ann', note: '"}', at: 8_000, outcome };
      const rows = await Promise.all(ids.map(async (id) => store.approvals.ofTask(id)));
      expect([between, await due(), rows.map(([row]) => row?.notice.outcome)]).toEqual([
        { unposted: undefined, posted: undefined },
        { unposted: undefined, posted: 'asked-d' },
        [end, end],
      ]);
    });

    it('show the end after a post that was in progress at that moment', async () => {
      await keep(parked());
      const [under] = await store.approvals.ofTask('t-1');
      await keep(aTask({ revision: 2, state: 'canceled', text: 'canceled: by rita' }));
      await store.approvals.keep([told(under, { ref: { ts: '1' } })]);
      expect(await due()).toEqual({ unposted: undefined, posted: 't-1-d' });
    });

    it("keep the end of a task's first wait when it waits again", async () => {
      await keep(parked({}, { id: 'd-1' }));
      await store.approvals.keep([
        told((await store.approvals.ofTask('t-1'))[0], { ref: { ts: '1' } }),
      ]);
      const settled = {
        id: 'd-1',
        tool: 'issue_refund',
        argsSha256: 'a1',
        decision: 'approve',
        approver: 'ann@example.com',
        note: '',
        decidedAt: 4_000,
      } as const;
      await keep(aTask({ revision: 2, settled }));
      await keep(parked({ revision: 3 }, { id: 'd-2' }));
      expect(
        (await store.approvals.ofTask('t-1')).map(({ notice }) => [
          notice.request.deferralId,
          notice.outcome,
        ]),
      ).toEqual([
        ['d-1', { kind: 'approved', approver: 'ann@example.com', note: '', at: 4_000 }],
        ['d-2', null],
      ]);
      expect([await due(), await store.approvals.waiting()]).toEqual([
        { unposted: 'd-2', posted: 'd-1' },
        ['t-1'],
      ]);
    });

    it('are never due again after they are closed', async () => {
      await keep(parked());
      await store.approvals.keep([
        told((await store.approvals.ofTask('t-1'))[0], { isClosed: true }),
      ]);
      await keep(parked({ revision: 2, stage: 'reminded' }));
      const reminded = await due();
      await keep(aTask({ revision: 3, state: 'canceled', text: 'canceled: by rita' }));
      const nothing = { unposted: undefined, posted: undefined };
      expect([reminded, await due(), await store.approvals.waiting()]).toEqual([
        nothing,
        nothing,
        [],
      ]);
    });

    it('are not due when they are closed during a change', async () => {
      await keep(parked());
      const [before] = await store.approvals.ofTask('t-1');
      await keep(parked({ revision: 2, stage: 'reminded' }));
      await store.approvals.keep([told(before, { isClosed: true })]);
      expect([await due(), await store.approvals.backlog()]).toEqual([
        { unposted: undefined, posted: undefined },
        [],
      ]);
    });

    it('are deleted with their task', async () => {
      await keep(parked(), parked({ id: 't-2' }));
      await keep(aTask({ revision: 2, state: 'completed', changedAt: 1 }));
      expect(await store.deleteEnded(2)).toBe(1);
      expect(
        await Promise.all(
          ['t-1', 't-2'].map(async (id) => (await store.approvals.ofTask(id)).length),
        ),
      ).toEqual([0, 1]);
    });

    it('include a deeply nested task, and the other tasks', async () => {
      let args: object = {};
      for (let level = 0; level < 1_200; level += 1) args = { args };
      await keep(parked({}, { args }), parked({ id: 't-2' }));
      expect((await store.rows.find('t-1'))?.deferral?.args).toEqual(args);
      await keep(aTask({ revision: 2, state: 'canceled' }), parked({ id: 't-2', revision: 2 }));
      expect([await store.rows.count('canceled'), await store.approvals.waiting()]).toEqual([
        1,
        ['t-2'],
      ]);
    });

    it('survive a restart', async () => {
      await keep(parked());
      const ref = { channel: 'C1', ts: '1.2' };
      await store.approvals.keep([told((await store.approvals.ofTask('t-1'))[0], { ref })]);
      const [kept] = await store.approvals.ofTask('t-1');
      await store.close();
      store = await place.open();
      expect(await store.approvals.ofTask('t-1')).toEqual([kept]);
      expect(kept).toMatchObject({ ref, told: kept?.notice });
    });
  });
});
