import { describe, expect, it } from 'vitest';
import { type FeedChange, TaskFeed } from '../../../src/actors/tasks/task-feed.ts';
import type { Task } from '../../../src/machines/domain/task.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { aParkedTask, aTask } from '../../helpers/stored-tasks.ts';

const turn = () => new Promise((next) => setImmediate(next));

function aFeed() {
  const clock = new ManualClock(1_000);
  const feed = new TaskFeed(clock);
  const heard: FeedChange[] = [];
  let ends = 0;
  const leave = feed.follow({ onChange: (change) => heard.push(change), onEnd: () => (ends += 1) });
  return { clock, feed, heard, leave, ends: () => ends };
}

/** What was heard, in short. */
function gist({ task: { id, state }, waited, isAsked }: FeedChange): unknown[] {
  return [id, state, waited?.deferral?.id ?? null, isAsked];
}

const working = aTask({ id: 't' });
const parked = aParkedTask('t', 9_000, 2);

describe('the feed of all tasks', () => {
  it('reports several changes in one turn as the last one, compared with the state before', async () => {
    const { feed, heard } = aFeed();
    feed.changed(working, null);
    feed.changed(parked, working);
    feed.changed(aTask({ id: 'other' }), null);
    expect(heard).toEqual([]);
    await turn();
    expect(heard.map(gist)).toEqual([
      ['t', 'deferred', null, true],
      ['other', 'working', null, false],
    ]);
  });

  it('does not report an invisible change', async () => {
    const { feed, heard } = aFeed();
    feed.changed({ ...working, revision: 2 }, working);
    feed.changed({ ...parked, id: 'p', revision: 3 }, { ...parked, id: 'p' });
    await turn();
    expect(heard).toEqual([]);
  });

  it('reports the beginning of a wait, news for its approvers, and its end', async () => {
    const { feed, heard } = aFeed();
    const deferral = parked.deferral && { ...parked.deferral, requests: 2 };
    const repeated: Task = { ...parked, stage: 'reminded', deferral };
    const steps: Task[] = [
      working,
      parked,
      { ...parked, stage: 'reminded' },
      repeated,
      { ...working, revision: 4 },
    ];
    for (const [index, task] of steps.entries()) {
      feed.changed(task, steps[index - 1] ?? null);
      await turn();
    }
    expect(heard.map(gist)).toEqual([
      ['t', 'working', null, false],
      ['t', 'deferred', null, true],
      ['t', 'deferred', null, true],
      ['t', 'deferred', null, true],
      ['t', 'working', 't-d', false],
    ]);
    expect(heard.at(-1)?.waited?.deferral?.args).toEqual({});
  });

  it('returns changes since a position, each task once, with its latest change', async () => {
    const { feed, heard } = aFeed();
    const start = feed.position;
    for (const id of ['a', 'b', 'a']) {
      const before = id === 'a' && heard.length > 0 ? aTask({ id }) : null;
      feed.changed(aTask({ id, text: before === null ? null : 'new' }), before);
      await turn();
    }
    const ids = (position: number) => feed.since(position)?.map(({ taskId }) => taskId);
    expect(ids(start)).toEqual(['b', 'a']);
    expect(ids(heard[1]?.position ?? 0)).toEqual(['a']);
    expect(ids(feed.position)).toEqual([]);
    expect(ids(feed.position + 1)).toBeUndefined();
    expect(ids(start - 2)).toBeUndefined();
  });

  it('drops the oldest of more than 1,000 tasks, and reports that', async () => {
    const { feed, heard } = aFeed();
    const start = feed.position;
    for (let count = 0; count < 1_001; count += 1) feed.changed(aTask({ id: `t${count}` }), null);
    await turn();
    expect(feed.since(start)).toBeNull();
    expect(feed.since(heard[0]?.position ?? 0)).toHaveLength(1_000);
  });

  it('has positions that do not reveal the amount of activity', async () => {
    const { clock, feed } = aFeed();
    clock.advance(1_000);
    for (let count = 0; count < 100; count += 1) feed.changed(aTask({ id: `t${count}` }), null);
    await turn();
    clock.advance(1_000);
    feed.changed(aTask({ id: 'next' }), null);
    await turn();
    expect(feed.position).toBe(3_000_000);
  });

  it('keeps no disconnected subscriber', async () => {
    const { feed } = aFeed();
    for (let count = 0; count < 10_000; count += 1) {
      feed.follow({ onChange: () => undefined, onEnd: () => undefined })();
    }
    expect(feed.followers).toBe(1);
  });

  it('sends current events at its end, then disconnects all subscribers, also later ones', async () => {
    const { feed, heard, ends } = aFeed();
    feed.changed(working, null);
    feed.end();
    expect([heard.map(gist), ends(), feed.followers]).toEqual([
      [['t', 'working', null, false]],
      1,
      0,
    ]);
    const late = await new Promise((resolve) => {
      feed.follow({ onChange: () => undefined, onEnd: () => resolve('ended') });
    });
    expect([late, feed.followers]).toEqual(['ended', 0]);
  });
});
