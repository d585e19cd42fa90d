import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { DrawnChart } from '../../../../src/ui/dashboard/chart/drawn-chart.ts';
import { staysOf, upTo, walk } from '../../../../src/ui/dashboard/chart/walk.ts';

const file = `${import.meta.dirname}/../../../../src/ui/dashboard/chart/task-chart.json`;
const chart = JSON.parse(readFileSync(file, 'utf8')) as DrawnChart;
const start = Date.parse('2026-11-22T12:00:00.000Z');

const at = (milliseconds: number) => new Date(start + milliseconds).toISOString();

const entered = (...steps: [state: string, event: string, after: number][]) =>
  steps.map(([state, event, after]) => ({ state, event, entered_at: at(after) }));

const held = entered(
  ['submitted', 'task.send', 0],
  ['working.thinking', 'prompt.screened', 2],
  ['working.governing', 'thinking.done', 1_302],
  ['working.executing.calling.starting', 'governing.done', 1_330],
  ['working.executing.calling.running', 'task.saved', 1_332],
  ['working.executing.recording', 'running.done', 1_506],
  ['working.thinking', 'task.saved', 1_510],
  ['working.governing', 'thinking.done', 2_310],
  ['deferred.asked', 'governing.done', 2_326],
);

describe('walk', () => {
  it('retraces a task from box to box and along the lines between them', () => {
    expect(walk(chart, held).map(({ box, by, event }) => [box.name, by?.label, event])).toEqual([
      ['submitted', undefined, 'task.send'],
      ['thinking', '', 'prompt.screened'],
      ['governing', 'wants a tool', 'thinking.done'],
      ['running', 'allowed', 'governing.done'],
      ['recording', '', 'running.done'],
      ['thinking', 'next turn', 'task.saved'],
      ['governing', 'wants a tool', 'thinking.done'],
      ['asked', 'needs approval', 'governing.done'],
    ]);
  });

  it('knows when each stop began and ended', () => {
    const [submitted, thinking] = walk(chart, held);
    expect(submitted).toMatchObject({ entered: start, left: start + 2 });
    expect(thinking).toMatchObject({ entered: start + 2, left: start + 1_302 });
    expect(walk(chart, held).at(-1)).toMatchObject({ entered: start + 2_326, left: null });
  });

  it.each([
    ['completed', 'working.thinking', 'answered'],
    ['failed', 'working.executing.minting', 'denied, failed'],
    ['failed', 'deferred.reminded', 'rejected, timed out, left'],
    ['canceled', 'deferred.escalated', 'canceled'],
    ['failed', 'submitted', 'message denied'],
    ['working.executing.recording', 'deferred.asked', 'denied, told'],
    ['working.governing', 'deferred.asked', 'ruled again'],
    ['working.executing.calling.starting', 'deferred.asked', 'approved'],
  ])('goes to %s from %s along "%s"', (to, from, label) => {
    expect(walk(chart, entered([from, '', 0], [to, '', 1])).at(-1)?.by?.label).toBe(label);
  });

  it('stops twice in a state that a restart entered again', () => {
    const again = entered(
      ['completed', '', 0],
      ['submitted', 'task.send', 5],
      ['completed', '', 9],
    );
    expect(walk(chart, again).map(({ box, by }) => [box.name, by])).toEqual([
      ['completed', undefined],
      ['submitted', undefined],
      ['completed', undefined],
    ]);
  });

  it('skips a state of another version of the chart', () => {
    const other = entered(
      ['submitted', '', 0],
      ['pondering.deep', '', 1],
      ['working.thinking', '', 2],
    );
    expect(walk(chart, other).map(({ box }) => box.name)).toEqual(['submitted', 'thinking']);
  });
});

describe('staysOf', () => {
  it('sums time and visits, in regions as well', () => {
    const stays = staysOf(chart, walk(chart, held), start + 5_326);
    expect(Object.fromEntries(stays)).toEqual({
      submitted: { milliseconds: 2, visits: 1 },
      working: { milliseconds: 2_324, visits: 1 },
      'working.thinking': { milliseconds: 2_100, visits: 2 },
      'working.governing': { milliseconds: 44, visits: 2 },
      'working.executing': { milliseconds: 180, visits: 1 },
      'working.executing.calling': { milliseconds: 176, visits: 1 },
      'working.executing.recording': { milliseconds: 4, visits: 1 },
      deferred: { milliseconds: 3_000, visits: 1 },
      'deferred.asked': { milliseconds: 3_000, visits: 1 },
    });
  });

  it('gives an end no duration', () => {
    const stays = staysOf(chart, walk(chart, entered(['completed', '', 0])), start + 60_000);
    expect(stays.get('completed')).toEqual({ milliseconds: 0, visits: 1 });
  });

  it('shows the earlier state when the user goes back', () => {
    const back = upTo(walk(chart, held), 1);
    expect([...staysOf(chart, back, start + 5_000).keys()]).toEqual([
      'submitted',
      'working',
      'working.thinking',
    ]);
  });
});
