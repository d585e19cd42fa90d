import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SqliteTaskRows } from '../../../../src/actors/records/sqlite/sqlite-task-rows.ts';
import { TasksBehind } from '../../../../src/actors/records/sqlite/tasks-behind.ts';
import { aDecidedHold, aParkedTask, aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { aCall, digest } from '../../../helpers/task-fixtures.ts';
import { openStore, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';

const outcome = 'interrupted: the outcome is only in the audit log';
const at = 60_000;
const ts = '1970-01-01T00:01:00.000Z';
const call = aCall({ args: { order: 7 } });

/** The state of a chart, according to its snapshot. */
const snapshotOf = (context: object) => ({ context: { pending: [call], ...context } });

/** The rows of a store that has tasks. */
async function rowsOf(...writes: ReturnType<typeof aWrite>[]): Promise<SqliteTaskRows> {
  const directory = temporaryFolder();
  const store = await openStore(directory);
  for (const write of writes) await store.save(write.change.task.id, () => write);
  await store.close();
  const database = new DatabaseSync(storeFiles(directory).path);
  onTestFinished(() => database.close());
  return new SqliteTaskRows(database);
}

const cutOff = {
  call_id: 'call-1',
  args_sha256: digest,
  tool: call.tool,
  phase: 'end',
  args_size: 11,
  result_size: 0,
  outcome: 'unknown',
  error: outcome,
};
const failed = { event: 'session_end', ts, fields: { state: 'failed' } };

describe('unfinished tasks that removed lines may have named', () => {
  it("are ended with their wait or their call, numbered after the store's last line", async () => {
    const rows = await rowsOf(
      aWrite(aParkedTask('waits', at * 2, 3), {
        auditSeq: 7,
        snapshot: snapshotOf({}),
        expected: 0,
      }),
      aWrite(aTask({ id: 'runs', changedAt: 50_000 }), {
        auditSeq: 4,
        snapshot: snapshotOf({ startedAt: 40_000 }),
        startedCall: call.id,
      }),
      aWrite(aTask({ id: 'thinks' }), { auditSeq: 2, snapshot: snapshotOf({ pending: [] }) }),
      aWrite(aTask({ id: 'ended', state: 'completed' }), { auditSeq: 9 }),
    );
    const behind = new TasksBehind(rows);
    behind.takeAll();
    const { tasks, events } = behind.end(at);
    expect(tasks).toBe(3);
    expect(Map.groupBy(events, ({ task_id }) => task_id)).toEqual(
      new Map([
        [
          'runs',
          [
            {
              event: 'tool_exec',
              ts,
              task_id: 'runs',
              seq: 5,
              fields: { ...cutOff, duration_ms: 20_000 },
            },
            { ...failed, task_id: 'runs', seq: 6 },
          ],
        ],
        ['thinks', [{ ...failed, task_id: 'thinks', seq: 3 }]],
        [
          'waits',
          [
            {
              event: 'task_deferred_abandoned',
              ts,
              task_id: 'waits',
              seq: 8,
              fields: {
                call_id: 'waits-d',
                args_sha256: digest,
                deferral_id: 'waits-d',
                tool: 'issue_refund',
                reason: 'service_restart',
                wait_ms: 58_000,
              },
            },
            { ...failed, task_id: 'waits', seq: 9 },
          ],
        ],
      ]),
    );
    const over = { snapshot: null, startedCall: null };
    const ended = { state: 'failed', text: outcome, deferral: null, changedAt: at };
    expect(await Promise.all(['waits', 'runs', 'ended'].map((id) => rows.read(id)))).toMatchObject([
      { ...over, auditSeq: 9, task: { ...ended, revision: 4 } },
      { ...over, auditSeq: 6, task: { ...ended, revision: 2 } },
      { auditSeq: 9, task: { state: 'completed', revision: 1 } },
    ]);
  });

  it('ran since their last change when the start of their call is unknown', async () => {
    const running = { auditSeq: 1, snapshot: snapshotOf({ startedAt: 0 }), startedCall: call.id };
    const rows = await rowsOf(aWrite(aTask({ changedAt: 50_000 }), running));
    const behind = new TasksBehind(rows);
    behind.takeAll();
    expect(behind.end(at).events[0]).toMatchObject({ fields: { duration_ms: 10_000 } });
  });
});

describe('tasks that lines name', () => {
  const line = (id: string, seq: number, event: string, fields = {}) => ({
    event,
    task_id: id,
    seq,
    ts: new Date(seq * 1_000).toISOString(),
    fields,
  });

  it('are ended where the store has them as running, and created where it has none', async () => {
    const rows = await rowsOf(aWrite(aTask({ id: 'works' }), { auditSeq: 2 }));
    const behind = new TasksBehind(rows);
    behind.take(line('works', 3, 'llm_call'));
    behind.take(line('new', 1, 'session_start'));
    behind.take(line('new', 2, 'llm_call'));
    expect(behind.end(at)).toMatchObject({ tasks: 2, events: [{ seq: 4 }, { seq: 3 }] });
    expect([await rows.read('works'), await rows.read('new')]).toMatchObject([
      { auditSeq: 4, task: { state: 'failed', revision: 2, createdAt: 1_000 } },
      { auditSeq: 3, task: { state: 'failed', revision: 1, createdAt: 1_000, changedAt: at } },
    ]);
  });

  it('name the waiting or running call of their last line', async () => {
    const rows = await rowsOf(
      aWrite(aTask({ id: 'waits' }), { auditSeq: 1 }),
      aWrite(aTask({ id: 'runs' }), { auditSeq: 1 }),
    );
    const named = { call_id: 'c', args_sha256: 'ab', policy_sha256: 'ef' };
    const held = { ...named, deferral_id: 'c', runs_sha256: 'cd', tool: 'pay' };
    const behind = new TasksBehind(rows);
    behind.take(line('waits', 2, 'task_deferred', held));
    behind.take(line('runs', 2, 'tool_exec', { ...named, tool: 'pay', phase: 'start' }));
    const { events } = behind.end(at);
    expect(events.filter(({ event }) => event !== 'session_end')).toMatchObject([
      { event: 'task_deferred_abandoned', fields: { ...held, reason: 'service_restart' } },
      { event: 'tool_exec', fields: { ...named, tool: 'pay', phase: 'end' } },
    ]);
  });

  it('are ended where the log has their end and the store has them as running', async () => {
    const rows = await rowsOf(aWrite(aTask({ id: 'works' }), { auditSeq: 2 }));
    const behind = new TasksBehind(rows);
    behind.take(line('works', 3, 'session_end', { state: 'completed' }));
    expect(behind.end(at)).toEqual({ tasks: 1, holds: 0, events: [] });
    expect(await rows.read('works')).toMatchObject({
      auditSeq: 3,
      task: { state: 'failed', text: outcome },
    });
  });
});

describe('approved calls of other programs', () => {
  const accountsOf = async (rows: SqliteTaskRows) =>
    (await Promise.all(['one', 'two', 'three'].map((id) => rows.find(id)))).map(
      (task) => task?.hold?.account?.state,
    );
  const holds = () =>
    rowsOf(
      aWrite(aDecidedHold('one', 'granted'), { auditSeq: 4 }),
      aWrite(aDecidedHold('two', 'granted'), { auditSeq: 4 }),
      aWrite(aDecidedHold('three', 'released'), { auditSeq: 4 }),
    );

  it('are not released again if a line shows that their program received them', async () => {
    const rows = await holds();
    const behind = new TasksBehind(rows);
    for (const task_id of ['one', 'three']) {
      behind.take({ event: 'hold_released', task_id, seq: 5, ts, fields: {} });
    }
    expect(behind.end(at)).toEqual({
      ...{ tasks: 0, holds: 1 },
      events: [
        {
          ...{ event: 'hold_unaccounted', ts, task_id: 'one', seq: 5 },
          fields: { call_id: 'c', args_sha256: 'bb', tool: 'pay', within_ms: 1_000 },
        },
      ],
    });
    expect(await accountsOf(rows)).toEqual(['unaccounted', 'granted', 'released']);
  });

  it('are not released again if nothing shows what happened since', async () => {
    const rows = await holds();
    const behind = new TasksBehind(rows);
    behind.takeRunning();
    expect(behind.end(at)).toMatchObject({ tasks: 0, holds: 2 });
    expect(await accountsOf(rows)).toEqual(['unaccounted', 'unaccounted', 'released']);
  });

  it('of other releases end like those of this one', async () => {
    const rows = await rowsOf(aWrite(aTask({ id: 'works' }), { machineVersion: 9_999 }));
    const behind = new TasksBehind(rows);
    behind.takeRunning();
    expect(behind.end(at)).toMatchObject({ tasks: 1, holds: 0 });
  });
});
