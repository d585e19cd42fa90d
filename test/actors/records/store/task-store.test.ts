import { beforeEach, describe, expect, it } from 'vitest';
import type { TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import { ConflictError } from '../../../../src/actors/records/store/task-store.ts';
import { kindsOfStores, type StorePlace } from '../../../helpers/kinds-of-stores.ts';
import { anEvent, aTask, aWrite } from '../../../helpers/stored-tasks.ts';

describe.each(kindsOfStores)('$kind', ({ make }) => {
  let place: StorePlace;
  let store: TaskStore;

  beforeEach(async () => {
    place = await make();
    store = await place.open();
  });

  describe('saving', () => {
    it('resolves once the change and its event are committed, for every store', async () => {
      const other = await place.open();
      let isCommitted = false;
      const saved = store
        .save('t-1', () => aWrite(aTask()))
        .then(() => {
          isCommitted = true;
        });
      await Promise.resolve();
      expect(isCommitted).toBe(false);
      await saved;
      expect([
        await other.rows.find('t-1'),
        (await place.lines()).map(({ event }) => event),
      ]).toEqual([aTask(), ['tool_exec']]);
    });

    it('puts events without a task before those of the saves of one turn', async () => {
      const ids = Array.from({ length: 50 }, (_, index) => `t-${index}`);
      await Promise.all([
        ...ids.map((id) => store.save(id, () => aWrite(aTask({ id })))),
        store.record([anEvent('t-loose')]),
      ]);
      expect((await place.lines()).map(({ task_id: id }) => id)).toEqual(['t-loose', ...ids]);
      const { tasks } = await store.rows.listing.made({ limit: 60 });
      expect(tasks.map(({ id }) => id)).toEqual(ids.toReversed());
    });

    it('refuses only a task that cannot be serialized', async () => {
      const outcomes = await Promise.allSettled([
        store.save('t-1', () => {
          throw new Error('circular');
        }),
        store.save('t-2', () => aWrite(aTask({ id: 't-2' }))),
      ]);
      expect(outcomes).toMatchObject([
        { status: 'rejected', reason: { code: 'unsavable' } },
        { status: 'fulfilled' },
      ]);
      expect((await place.lines()).map(({ task_id: id }) => id)).toEqual(['t-2']);
    });

    it('stores every JSON string', async () => {
      const texts = ['a\0b', 'lone \ud800 surrogate', '\\u0000', '\u2028\n"', '😀'];
      const history = texts.map((text) => ({
        ...{ role: 'user' as const, messageId: 'm-1' },
        parts: [{ kind: 'text' as const, text }],
      }));
      const task = aTask({ text: texts.join(''), history });
      await store.save('t-1', () => aWrite(task));
      expect((await store.rows.read('t-1'))?.task).toEqual(task);
      expect(await place.lines()).toHaveLength(1);
    });

    it('stores a task whose names have a lone surrogate', async () => {
      const contextId = 'c \ud800';
      const requester = { provider: 'idp', userId: 'ann \udfff' };
      await store.save('t-1', () => aWrite(aTask({ contextId, requester })));
      expect(await store.rows.listing.total({ contextId })).toBe(1);
      expect((await store.rows.find('t-1'))?.contextId).toBe(contextId);
    });

    it('finds nothing by names that no task can have', async () => {
      await store.save('t-1', () => aWrite(aTask()));
      const name = 'a\0b';
      const { rows, push, approvals } = store;
      expect([
        ...[await rows.read(name), await rows.find(name), await rows.findByDeferral(name)],
        ...[await rows.messages.find(name), await push.find(name, name)],
        ...[await rows.sessions.firstOf(name, null), await rows.listing.total({ contextId: name })],
      ]).toEqual([undefined, undefined, undefined, undefined, undefined, undefined, 0]);
      expect([
        (await rows.listing.changed({ limit: 5, contextId: name })).tasks,
        (await rows.states.of(name)).states,
        await approvals.ofTask(name),
        await push.delete(name, name),
      ]).toEqual([[], [], [], false]);
    });

    it('writes a checkpoint on request, unless nothing was written since the last one', async () => {
      store.checkpoint();
      await store.flush();
      await store.record([anEvent('t-1')]);
      for (const _ of [1, 2]) {
        store.checkpoint();
        await store.flush();
      }
      expect((await place.lines()).map(({ event }) => event)).toEqual(['tool_exec', 'checkpoint']);
    });

    it('writes a checkpoint after every thousand lines, of any writer', async () => {
      const other = await place.open();
      for (const each of [store, other, store]) {
        await each.record(Array.from({ length: 700 }, (_, index) => anEvent('t-1', index)));
      }
      const events = (await place.lines()).map(({ event }) => event);
      const checkpoints = events.flatMap((event, index) => (event === 'checkpoint' ? [index] : []));
      expect([events.length, checkpoints]).toEqual([2_102, [1_000, 2_001]]);
    });

    it('stores each of several saves of a task, in order', async () => {
      const first = store.save('t-1', () => aWrite(aTask({ text: 'first' })));
      const second = store.save('t-1', () => aWrite(aTask({ revision: 2, text: 'second' })));
      await Promise.all([first, second]);
      expect((await store.rows.find('t-1'))?.text).toBe('second');
    });

    it('refuses a save that does not follow the one before it in the same turn', async () => {
      const first = store.save('t-1', () => aWrite(aTask({ text: 'first' })));
      const other = store.save('t-1', () => aWrite(aTask({ text: 'other' })));
      const outcomes = await Promise.allSettled([first, other]);
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
      expect((await store.rows.find('t-1'))?.text).toBe('first');
      expect(await place.lines()).toHaveLength(1);
    });

    it('commits at once on request', async () => {
      void store.save('t-1', () => aWrite(aTask()));
      expect(await store.flush()).toBeNull();
      expect(await store.rows.find('t-1')).toEqual(aTask());
    });

    it('commits pending saves at the close', async () => {
      void store.save('t-1', () => aWrite(aTask()));
      await store.close();
      store = await place.open();
      expect(await store.rows.find('t-1')).toEqual(aTask());
      expect(store.recovery).toEqual({ torn: null, replayed: 0 });
    });
  });

  describe('a change after a concurrent one', () => {
    it('is refused by its revision, with its events, and affects no other save', async () => {
      const other = await place.open();
      await store.save('t-1', () => aWrite(aTask({ text: 'here' })));
      await other.save('t-1', () => aWrite(aTask({ revision: 2, text: 'there' })));
      const outcomes = await Promise.allSettled([
        store.save('t-1', () => aWrite(aTask({ revision: 2, text: 'late' }))),
        store.save('t-2', () => aWrite(aTask({ id: 't-2' }))),
      ]);
      expect(outcomes).toEqual([
        {
          status: 'rejected',
          reason: new ConflictError('task t-1 was changed by another process'),
        },
        { status: 'fulfilled', value: undefined },
      ]);
      expect((await store.rows.find('t-1'))?.text).toBe('there');
      expect((await place.lines()).map(({ task_id: id, seq }) => [id, seq])).toEqual([
        ['t-1', 1],
        ['t-1', 2],
        ['t-2', 1],
      ]);
    });

    it('is refused when two writers create a task with the same id', async () => {
      const other = await place.open();
      const outcomes = await Promise.allSettled([
        store.save('t-1', () => aWrite(aTask({ text: 'here' }))),
        other.save('t-1', () => aWrite(aTask({ text: 'there' }))),
      ]);
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      expect(await place.lines()).toHaveLength(1);
    });

    it('succeeds for one of many when two stores alternate', async () => {
      const other = await place.open();
      await store.save('t-1', () => aWrite(aTask()));
      for (let revision = 2; revision < 30; revision += 1) {
        const outcomes = await Promise.allSettled(
          [store, other].map((each) => each.save('t-1', () => aWrite(aTask({ revision })))),
        );
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      }
      expect((await store.rows.find('t-1'))?.revision).toBe(29);
      expect((await place.lines()).map(({ seq }) => seq)).toEqual(
        Array.from({ length: 29 }, (_, index) => index + 1),
      );
    });
  });

  describe('a repeated message', () => {
    const sent = (key: string, supersedes: string | null = null) => ({
      sent: [{ key, supersedes }],
    });
    const save = (id: string, key: string, supersedes: string | null = null) =>
      store.save(id, () => aWrite(aTask({ id }), sent(key, supersedes)));

    it('leads to the task that it created, and to no other', async () => {
      await save('t-1', 'm-1');
      await expect(save('t-2', 'm-1')).rejects.toThrow(ConflictError);
      expect([await store.rows.messages.find('m-1'), await store.rows.find('t-2')]).toEqual([
        't-1',
        undefined,
      ]);
      expect(await place.lines()).toHaveLength(1);
    });

    it('leads to one of two tasks created in one turn, and affects no other save', async () => {
      const outcomes = await Promise.allSettled([
        ...[save('t-1', 'm-1'), save('t-2', 'm-1')],
        save('t-3', 'm-3'),
      ]);
      expect(outcomes).toMatchObject([
        { status: 'fulfilled' },
        { status: 'rejected', reason: { code: 'conflict' } },
        { status: 'fulfilled' },
      ]);
      expect(await Promise.all(['m-1', 'm-3'].map((key) => store.rows.messages.find(key)))).toEqual(
        [...['t-1', 't-3']],
      );
      expect((await place.lines()).map(({ task_id: id }) => id)).toEqual(['t-1', 't-3']);
    });

    it('leads to a new task in place of one that no longer counts', async () => {
      await save('t-1', 'm-1');
      await save('t-2', 'm-1', 't-1');
      await expect(save('t-3', 'm-1', 't-1')).rejects.toThrow(ConflictError);
      expect(await store.rows.messages.find('m-1')).toBe('t-2');
    });

    it('leads to no task after its task is deleted', async () => {
      const ended = aTask({ state: 'completed', changedAt: 1 });
      await store.save('t-1', () => aWrite(ended, sent('m-1')));
      expect(await store.deleteEnded(2)).toBe(1);
      expect(await store.rows.messages.find('m-1')).toBeUndefined();
    });

    it('leads to one task when two stores receive it at once', async () => {
      const other = await place.open();
      for (let round = 0; round < 20; round += 1) {
        const outcomes = await Promise.allSettled(
          [store, other].map((each, index) => {
            const id = `t-${round}-${index}`;
            return each.save(id, () => aWrite(aTask({ id }), sent(`m-${round}`)));
          }),
        );
        expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      }
      expect([await store.rows.count('working'), (await place.lines()).length]).toEqual([20, 20]);
    });
  });
});
