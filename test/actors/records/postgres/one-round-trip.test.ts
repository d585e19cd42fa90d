import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import type { TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import type { Task } from '../../../../src/machines/domain/task.ts';
import { codeOf } from '../../../../src/machines/error-code.ts';
import { postgresPlace } from '../../../helpers/kinds-of-stores.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';

describe('a commit in PostgreSQL', () => {
  const save = (store: TaskStore, tasks: readonly Partial<Task>[]) =>
    Promise.allSettled(
      tasks.map((task) => store.save(task.id ?? 't-1', () => aWrite(aTask(task)))),
    );
  const all = (revision: number, ids = ['t-1', 't-2', 't-3']): Partial<Task>[] =>
    ids.map((id) => ({ id, revision }));

  /** Two commits show a store that it is alone. */
  const used = async (store: TaskStore) => {
    await save(store, all(1));
    await save(store, all(2));
  };

  it('is one round trip, for any number of tasks', async () => {
    const store = await (await postgresPlace()).open();
    await used(store);
    const happened: string[] = [];
    const query = pg.Client.prototype.query;
    const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function spied(
      this: pg.Client,
      ...all: unknown[]
    ) {
      happened.push('sent');
      const answer = Reflect.apply(query, this, all) as Promise<unknown>;
      return answer.finally(() => happened.push('answered')) as never;
    });
    await save(store, all(3));
    spy.mockRestore();
    const trips = happened.filter((what, at) => what === 'sent' && happened[at - 1] !== 'sent');
    expect(trips.length).toBe(1);
  });

  it('refuses only the tasks that another daemon changed meanwhile, and continues its log', async () => {
    const place = await postgresPlace();
    const [here, there] = [await place.open(), await place.open()];
    await used(here);
    expect((await save(there, all(3, ['t-2']))).map(({ status }) => status)).toEqual(['fulfilled']);
    const saved = await save(here, all(3));
    expect(saved.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(saved[1]).toMatchObject({ reason: { code: 'conflict' } });
    expect((await save(here, all(4, ['t-2']))).map(({ status }) => status)).toEqual(['fulfilled']);
    const lines = (await place.lines()).map(({ task_id, seq }) => `${task_id} ${seq}`);
    expect(lines.slice(6)).toEqual(['t-2 3', 't-1 3', 't-3 3', 't-2 4']);
  });

  it('refuses a new task whose id or message another daemon has taken', async () => {
    const place = await postgresPlace();
    const [here, there] = [await place.open(), await place.open()];
    await used(here);
    await used(here);
    await save(there, all(1, ['t-4']));
    await used(here);
    expect((await save(here, all(1, ['t-4', 't-5']))).map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
    ]);
    const sent = [{ key: 'm', supersedes: null }];
    const say = (store: TaskStore, id: string) =>
      store.save(id, () => aWrite(aTask({ id }), { sent })).catch(codeOf);
    expect(await say(there, 't-6')).toBeUndefined();
    await used(here);
    expect(await Promise.all([say(here, 't-7'), say(here, 't-8')])).toEqual([
      'conflict',
      'conflict',
    ]);
    await used(here);
    expect(await say(here, 't-7')).toBe('conflict');
    expect(await here.rows.messages.find('m')).toBe('t-6');
  });

  it('refuses a change of a task that was deleted meanwhile', async () => {
    const place = await postgresPlace();
    const store = await place.open();
    await used(store);
    await place.execute(`DELETE FROM tasks WHERE id = 't-3'`);
    expect((await save(store, all(3))).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
    ]);
  });
});
