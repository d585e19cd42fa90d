import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PostgresStore } from '../../../../src/actors/records/postgres/postgres-store.ts';
import type { Task } from '../../../../src/machines/domain/task.ts';
import { type PostgresPlace, postgresPlace } from '../../../helpers/kinds-of-stores.ts';
import { anEvent, aTask, aWrite } from '../../../helpers/stored-tasks.ts';

let place: PostgresPlace;
let store: PostgresStore;

beforeEach(async () => {
  place = await postgresPlace();
  store = await place.open();
});

const unkeepable: [string, Partial<Task>][] = [
  ['an id with U+0000', { id: 'a\0b' }],
  ['a context with U+0000', { id: 'bad', contextId: 'a\0b' }],
  ['an owner with U+0000', { id: 'bad', requester: { provider: 'idp', userId: 'a\0b' } }],
  [
    'a name that is too long for an index',
    { id: 'bad', contextId: randomBytes(9_000).toString('hex') },
  ],
  ['a number that is none', { id: 'bad', changedAt: Number.NaN }],
];

describe('a task that PostgreSQL cannot store', () => {
  it.each(unkeepable)('is refused alone: %s', async (_, bad) => {
    const outcomes = await Promise.allSettled([
      store.save('t-1', () => aWrite(aTask())),
      store.save(bad.id ?? '', () => aWrite(aTask(bad))),
      store.save('t-2', () => aWrite(aTask({ id: 't-2' }))),
      store.record([anEvent('loose')]),
    ]);
    expect(outcomes).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 'unsavable' } },
      { status: 'fulfilled' },
      { status: 'fulfilled' },
    ]);
    const lines = (await place.lines()).map(({ task_id: id }) => String(id));
    expect(lines.toSorted()).toEqual(['loose', 't-1', 't-2']);
    expect([await store.rows.count('working'), store.isWritable()]).toEqual([2, true]);
  });

  it('is refused as a single save', async () => {
    await expect(store.save('bad', () => aWrite(aTask({ id: 'a\0b' })))).rejects.toMatchObject({
      code: 'unsavable',
    });
    expect(await place.lines()).toEqual([]);
  });
});

describe('many concurrent saves', () => {
  it('are stored, for any number', async () => {
    const ids = Array.from({ length: 3_000 }, (_, at) => `t-${at}`);
    const text = 'x'.repeat(20_000);
    await Promise.all(ids.map((id) => store.save(id, () => aWrite(aTask({ id, text })))));
    expect(await store.rows.count('working')).toBe(3_000);
    const sizes = await place.execute('SELECT max(commits)::int AS commits FROM replicas');
    expect(Number(sizes[0]?.['commits'])).toBeGreaterThanOrEqual(6);
  });
});

describe('a damaged row', () => {
  it('is overwritten, and breaks no other save', async () => {
    const parked = aTask({ state: 'deferred', stage: 'asked' });
    await store.save('t-1', () => aWrite(parked));
    await place.execute(`UPDATE tasks SET task = '{', deferral_id = 'd-1' WHERE id = 't-1'`);
    await Promise.all([
      store.save('t-1', () => aWrite(aTask({ revision: 2, state: 'failed' }))),
      store.save('t-2', () => aWrite(aTask({ id: 't-2' }))),
    ]);
    expect((await store.rows.find('t-1'))?.state).toBe('failed');
  });
});

describe('deleting an ended task', () => {
  it('removes all that belongs to it or nothing', async () => {
    const ended = aTask({ state: 'completed', changedAt: 1 });
    await store.save('t-1', () => aWrite(ended, { sent: [{ key: 'm-1', supersedes: null }] }));
    await place.execute(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN RAISE ''no''; END'`);
    await place.execute(`CREATE TRIGGER refuse BEFORE DELETE ON sent_messages
      FOR EACH ROW EXECUTE FUNCTION refuse()`);
    await expect(store.deleteEnded(2)).rejects.toThrow('no');
    expect((await store.rows.find('t-1'))?.id).toBe('t-1');
    await place.execute('DROP TRIGGER refuse ON sent_messages');
    expect(await store.deleteEnded(2)).toBe(1);
    expect(await store.rows.messages.find('m-1')).toBeUndefined();
  });

  it('keeps a task that runs again at that moment', async () => {
    const other = await place.open();
    for (let round = 0; round < 40; round += 1) {
      const id = `t-${round}`;
      await store.save(id, () => aWrite(aTask({ id, state: 'completed', changedAt: 1 })));
      const [again, deleted] = await Promise.allSettled([
        store.save(id, () => aWrite(aTask({ id, revision: 2, changedAt: 9 }))),
        other.deleteEnded(2),
      ]);
      expect(deleted.status).toBe('fulfilled');
      expect((await store.rows.find(id)) !== undefined).toBe(again.status === 'fulfilled');
    }
  });
});
