import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConflictError, type TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import { anEvent, aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { openStore, recordedEvents, temporaryFolder } from '../../../helpers/test-system.ts';

let directory: string;
let store: TaskStore;

beforeEach(async () => {
  directory = temporaryFolder();
  store = await openStore(directory);
});
afterEach(() => store.close());

/** Counts the commits from here on. */
function countCommits(): () => number {
  const spy = vi.spyOn(DatabaseSync.prototype, 'exec');
  onTestFinished(() => spy.mockRestore());
  return () => spy.mock.calls.filter(([sql]) => sql === 'COMMIT').length;
}

describe('saving', () => {
  it('puts all saves and events of one turn into one commit', async () => {
    const commits = countCommits();
    const ids = Array.from({ length: 50 }, (_, index) => `t-${index}`);
    await Promise.all([
      ...ids.map((id) => store.save(id, () => aWrite(aTask({ id })))),
      store.record([anEvent('t-loose')]),
    ]);
    expect(commits()).toBe(1);
    expect(store.rows.count('working')).toBe(50);
    expect(recordedEvents(directory).map(({ task_id: id }) => id)).toEqual(['t-loose', ...ids]);
  });

  it('resolves only once the change and its event are committed', async () => {
    const other = await openStore(directory);
    onTestFinished(() => other.close());
    let isCommitted = false;
    const saved = store
      .save('t-1', () => aWrite(aTask()))
      .then(() => {
        isCommitted = true;
      });
    await Promise.resolve();
    expect([isCommitted, other.rows.find('t-1'), recordedEvents(directory)]).toEqual([
      false,
      undefined,
      [],
    ]);
    await saved;
    expect(other.rows.find('t-1')).toEqual(aTask());
    expect(recordedEvents(directory).map(({ event }) => event)).toEqual(['tool_exec']);
  });

  it('collects a task once, as late as it can, however often it is saved in a turn', async () => {
    const collected: string[] = [];
    const collect = (text: string) => () => {
      collected.push(text);
      return aWrite(aTask({ text }));
    };
    const first = store.save('t-1', collect('first'));
    const second = store.save('t-1', collect('second'));
    await Promise.all([first, second]);
    expect(collected).toEqual(['second']);
    expect(store.rows.find('t-1')?.text).toBe('second');
  });

  it('commits at once when it is told to', () => {
    void store.save('t-1', () => aWrite(aTask()));
    expect(store.flush()).toBeNull();
    expect(store.rows.find('t-1')).toEqual(aTask());
  });

  it('commits what is pending when it closes', async () => {
    void store.save('t-1', () => aWrite(aTask()));
    store.close();
    store = await openStore(directory);
    expect(store.rows.find('t-1')).toEqual(aTask());
    expect(store.recovery).toEqual({ torn: null, replayed: 0 });
  });
});

describe('a change that somebody else made first', () => {
  it('is refused by its revision, with its events, and harms no other save', async () => {
    const other = await openStore(directory);
    onTestFinished(() => other.close());
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
    expect(store.rows.find('t-1')?.text).toBe('there');
    expect(recordedEvents(directory).map(({ task_id: id, seq }) => [id, seq])).toEqual([
      ['t-1', 1],
      ['t-1', 2],
      ['t-2', 1],
    ]);
  });

  it('is refused when both make a task of the same id', async () => {
    const other = await openStore(directory);
    onTestFinished(() => other.close());
    const outcomes = await Promise.allSettled([
      store.save('t-1', () => aWrite(aTask({ text: 'here' }))),
      other.save('t-1', () => aWrite(aTask({ text: 'there' }))),
    ]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(recordedEvents(directory)).toHaveLength(1);
  });

  it('lets one of many win when two stores take turns', async () => {
    const other = await openStore(directory);
    onTestFinished(() => other.close());
    await store.save('t-1', () => aWrite(aTask()));
    for (let revision = 2; revision < 30; revision += 1) {
      const outcomes = await Promise.allSettled(
        [store, other].map((each) => each.save('t-1', () => aWrite(aTask({ revision })))),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    }
    expect(store.rows.find('t-1')?.revision).toBe(29);
    expect(recordedEvents(directory).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 29 }, (_, index) => index + 1),
    );
  });
});
