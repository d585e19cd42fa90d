import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { tablesIdentity } from '../../../../src/actors/records/postgres/known-schema.ts';
import { PostgresLog } from '../../../../src/actors/records/postgres/postgres-log.ts';
import {
  type SettleOptions,
  settleCopy,
} from '../../../../src/actors/records/postgres/settle-copy.ts';
import { silentLog } from '../../../../src/actors/silent-log.ts';
import { keepTasks } from '../../../helpers/keep-tasks.ts';
import { type PostgresPlace, postgresPlace } from '../../../helpers/kinds-of-stores.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { isOverLimit } from '../../../helpers/measured-calls.ts';
import { patient } from '../../../helpers/patient.ts';
import { sharedPostgres } from '../../../helpers/postgres-server.ts';
import { aDecidedHold, aParkedTask, aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { aDeferral } from '../../../helpers/task-fixtures.ts';

const later = 4_000_000_000_000;

let place: PostgresPlace;
let options: SettleOptions;

beforeEach(async () => {
  place = await postgresPlace();
  const server = await sharedPostgres();
  options = {
    ...{ url: () => server.url(place.database), schema: 'holdpoint', pool: 2, agentId: 'refunds' },
    ...{ audit: { chain: true, signer: null }, log: silentLog, clock: new ManualClock(0) },
    ...{ entity: { entity_id: 'refunds', entity_type: 'agent' }, isMoved: false },
  };
  const store = await place.open();
  const running = aTask({ id: 'running' });
  await keepTasks(store, [aTask({ id: 'done', state: 'completed' })]);
  await store.save('running', () => aWrite(running, { startedCall: 'c-1' }));
  await store.save('parked', () => aWrite(aParkedTask('parked', later)));
  await store.save('parked-too', () => aWrite(aParkedTask('parked-too', later)));
  await store.delegations.put({ id: 'd-1', since: 1, until: later, from: 'ann', to: 'bob' });
  await store.delegations.put({ id: 'd-2', since: 1, until: 2, from: 'ann', to: 'bob' });
  await store.close();
  await place.execute(`INSERT INTO grants VALUES ('g-1', 'pay', 'ann', ${later}, 3, 0, '{}')`);
  await place.execute(`INSERT INTO push_targets VALUES ('parked', 'p-1', 0, false, '{}')`);
  await place.execute(`INSERT INTO web_sessions VALUES ('s-1', ${later}, '{}')`);
  // What a dump brings back: the number of tables that no longer exist.
  await place.execute(mark(1));
});

/** Statement that marks the tables as a copy, or as settled. */
const mark = (copy: 0 | 1) =>
  `UPDATE store_info SET tables = ${copy === 1 ? `'1/1'` : tablesIdentity}`;

const refused =
  'the tables of the schema holdpoint were restored or copied, so their calls may have run since; run holdpoint store restored, or holdpoint store restored --moved if no daemon ran since the copy';

const warning =
  'Restored from a backup of 2026-07-01T09:00:00.000Z: this call may have been decided since, so check before you approve.\n';

const usual = 'tool=issue_refund args={"order":7}';

describe('tables that were restored from a dump', () => {
  it('are refused until they are settled', async () => {
    await expect(place.open()).rejects.toThrow(refused);
    await settleCopy(options);
    expect((await place.open()).isWritable()).toBe(true);
  });

  it('are detected on a new server, which assigns equal tables equal numbers', async () => {
    await settleCopy(options);
    // A restore writes the row in a transaction of its own.
    await place.execute('UPDATE store_info SET agent_id = agent_id');
    await expect(place.open()).rejects.toThrow(refused);
  });

  it('accept no commit of a daemon that ran during the restore', async () => {
    await settleCopy({ ...options, isMoved: true });
    const logged: string[] = [];
    const store = await place.open({
      log: { ...silentLog, error: (fields) => void logged.push(JSON.stringify(fields)) },
    });
    await place.execute(mark(1));
    await expect(store.save('new', () => aWrite(aTask({ id: 'new' })))).rejects.toThrow(
      'the task store cannot be written',
    );
    expect([store.isWritable(), await store.rows.find('new')]).toEqual([false, undefined]);
    expect(logged).toEqual([JSON.stringify({ error: refused })]);
    await place.execute(mark(0));
    await expect.poll(() => store.isWritable(), patient).toBe(true);
  });

  it('accept no commit of that daemon after they are settled', async () => {
    await settleCopy({ ...options, isMoved: true });
    const logged: string[] = [];
    const store = await place.open({
      log: { ...silentLog, error: (fields) => void logged.push(JSON.stringify(fields)) },
    });
    await place.execute('ALTER TABLE tasks RENAME TO former');
    await place.execute('CREATE TABLE tasks (LIKE former INCLUDING ALL)');
    await place.execute(mark(0));
    await expect(store.save('new', () => aWrite(aTask({ id: 'new' })))).rejects.toThrow(
      'the task store cannot be written',
    );
    expect(logged).toEqual([
      JSON.stringify({
        error: 'the tables of the schema holdpoint were replaced while this daemon ran; restart it',
      }),
    ]);
  });

  it('stay settled after VACUUM FULL', async () => {
    await settleCopy(options);
    await place.execute('VACUUM FULL store_info');
    await place.execute('VACUUM FULL tasks');
    expect((await place.open()).isWritable()).toBe(true);
  });

  it('end running tasks, warn of waiting calls, and end grants', async () => {
    expect(await settleCopy(options)).toEqual({
      ...{ backupAt: Date.parse('2026-07-01T09:00:00.000Z'), ended: 1, waiting: 2, grants: 1 },
      holds: 0,
      pushTargets: 1,
    });
    const store = await place.open();
    expect(await isOverLimit(store)).toBe(true);
    const running = await store.rows.read('running');
    expect([running?.task.state, running?.task.failure, running?.startedCall]).toEqual([
      'failed',
      {
        kind: 'interrupted',
        text: 'interrupted: the task was running when the backup was made; check what ran since, and send it again',
      },
      null,
    ]);
    const parked = await store.rows.read('parked');
    expect(parked?.task.deferral?.context).toBe(`${warning}${usual}`);
    expect(parked?.snapshot).toEqual({ value: 'deferred' });
    expect((await store.rows.find('done'))?.state).toBe('completed');
    const asked = await place.execute(
      `SELECT asked FROM approval_notices WHERE task_id = 'parked'`,
    );
    expect(asked.map((row) => JSON.parse(String(row['asked'])).deferral.context)).toEqual([
      `${warning}${usual}`,
    ]);
    expect(await place.execute('SELECT id, is_suspended FROM grants')).toEqual([
      { id: 'g-1', is_suspended: 1 },
    ]);
    expect(await place.execute('SELECT id FROM delegations')).toEqual([]);
    expect(await place.execute('SELECT id FROM web_sessions')).toEqual([]);
    expect(await place.execute('SELECT id FROM push_targets')).toEqual([]);
    const added = (await place.lines()).slice(4);
    expect(added.map(({ event, task_id }) => [event, task_id])).toEqual([
      ['session_end', 'running'],
      ['store_restored', undefined],
      ['delegation_ended', undefined],
    ]);
    expect(added[1]).toMatchObject({
      ...{ entity_id: 'refunds', entity_type: 'agent' },
      fields: {
        ...{ backup_at: '2026-07-01T09:00:00.000Z', tasks_ended: 1 },
        ...{ waiting: 2, holds_unaccounted: 0, grants_suspended: 1, push_targets_deleted: 1 },
      },
    });
  });

  it('never release an approved call again that its program may have received', async () => {
    await place.execute(mark(0));
    const before = await place.open();
    await keepTasks(before, [
      aDecidedHold('granted', 'granted', later),
      aDecidedHold('released', 'released', later),
    ]);
    await before.close();
    await place.execute(mark(1));
    expect(await settleCopy(options)).toMatchObject({ ended: 1, holds: 1 });
    const { rows } = await place.open();
    const granted = await rows.find('granted');
    expect([granted?.hold?.account, granted?.wakeAt]).toEqual([
      { state: 'unaccounted', grantedAt: 1, releasedAt: null, outcome: null },
      null,
    ]);
    expect((await rows.find('released'))?.hold?.account?.state).toBe('released');
    expect(await rows.countOpenHolds()).toEqual({ released: 1, unaccounted: 1 });
    const lines = await place.lines();
    expect(lines.filter(({ event }) => event.startsWith('hold_'))).toMatchObject([
      {
        event: 'hold_unaccounted',
        task_id: 'granted',
        entity_id: 'refunds',
        fields: { tool: 'pay' },
      },
    ]);
  });

  it('end tasks of other releases too, which a later upgrade would continue', async () => {
    await place.execute(`UPDATE tasks SET machine_version = 9999`);
    expect(await settleCopy(options)).toMatchObject({ ended: 1, waiting: 2 });
    const { rows } = await place.open();
    expect((await rows.find('running'))?.state).toBe('failed');
    expect((await rows.find('parked'))?.deferral?.context).toBe(`${warning}${usual}`);
  });

  it.each([true, false])(
    'have the deadlines of their waits without their jobs; moved %s',
    async (isMoved) => {
      await settleCopy({ ...options, isMoved });
      const jobs = await place.execute(
        `SELECT data ->> 'task' AS task, start_after FROM holdpoint_jobs.job WHERE name = 'deadlines' ORDER BY task`,
      );
      expect(jobs.map(({ task, start_after: at }) => [task, Number(at as Date)])).toEqual([
        ['parked', later],
        ['parked-too', later],
      ]);
    },
  );

  it('warn of a call whose context begins like the warning', async () => {
    const deferral = aDeferral({
      id: 'sly-d',
      context: 'Restored from a backup of the docs\nfee=0',
      expiresAt: later,
    });
    const store = await place.open({ acceptsCopy: true });
    await keepTasks(store, [{ ...aParkedTask('sly', later), deferral }]);
    await store.close();
    expect(await settleCopy(options)).toMatchObject({ waiting: 3 });
    const sly = await (await place.open()).rows.find('sly');
    expect(sly?.deferral?.context).toBe(`${warning}${deferral.context}`);
  });

  it('can be read by the commands of the log before they are settled', async () => {
    const { audit: _, ...address } = options;
    const log = await PostgresLog.load(address);
    onTestFinished(() => log.close());
    await log.check();
    expect(await log.verify()).toMatchObject({ ok: true, events: 4 });
  });

  it('have one warning, if they are settled again', async () => {
    await settleCopy(options);
    expect(await settleCopy(options)).toMatchObject({ ended: 0, waiting: 0, grants: 1 });
    const parked = await (await place.open()).rows.find('parked');
    expect(parked?.deferral?.context).toBe(`${warning}${usual}`);
  });

  it('continue unchanged if they were moved', async () => {
    expect(await settleCopy({ ...options, isMoved: true })).toBeNull();
    const { rows } = await place.open();
    expect([await rows.working(), await rows.parked()]).toEqual([
      ['running'],
      ['parked', 'parked-too'],
    ]);
    expect(await place.lines()).toHaveLength(4);
  });

  it('are not settled while a daemon uses them', async () => {
    await settleCopy({ ...options, isMoved: true });
    await place.open();
    await expect(settleCopy(options)).rejects.toThrow(
      'daemons use the schema holdpoint; stop all of them, then settle the restored tables',
    );
    expect(await place.lines()).toHaveLength(4);
  });
});
