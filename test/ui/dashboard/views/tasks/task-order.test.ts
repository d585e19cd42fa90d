import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hrefOfFilter,
  passes,
  readFilter,
} from '../../../../../src/ui/dashboard/views/tasks/task-filter.ts';
import {
  newestFirst,
  seenRows,
  settled,
} from '../../../../../src/ui/dashboard/views/tasks/task-order.ts';
import { listedTask } from '../../../../helpers/page-tasks.ts';

const of = (agent: string, number: number) => ({ ...listedTask(number), agent });

describe('the filter of tasks', () => {
  it('is read from an address as it was written', () => {
    const text = fc.string({ maxLength: 12 });
    fc.assert(
      fc.property(
        fc.record({
          ...{ state: text, agent: text, tool: text, execution: text, from: text, to: text },
        }),
        (filter) => {
          const [, query = ''] = hrefOfFilter(filter).split('?', 2);
          expect(readFilter(new URLSearchParams(query))).toEqual(filter);
        },
      ),
    );
  });

  it('accepts a changed task as the server would', () => {
    const all = { state: '', agent: '', tool: '', execution: '', from: '', to: '' };
    const held = { ...of('one', 1), state: 'deferred', tool: 'pay' };
    expect(passes(held, all)).toBe(true);
    expect(passes(held, { ...all, state: 'deferred', agent: 'one', tool: 'pay' })).toBe(true);
    expect(passes(held, { ...all, state: 'failed' })).toBe(false);
    expect(passes(held, { ...all, agent: 'two' })).toBe(false);
    expect(passes(held, { ...all, tool: 'lookup_order' })).toBe(false);
    expect(passes(held, { ...all, execution: 'wx-1' })).toBe(false);
    const at = held.created_at;
    expect(passes(held, { ...all, from: at, to: at })).toBe(true);
    expect(passes(held, { ...all, from: '7d' })).toBe(true);
    expect(passes(held, { ...all, from: '2100-01-01T00:00:00Z' })).toBe(false);
    expect(passes(held, { ...all, to: '2000-01-01T00:00:00Z' })).toBe(false);
  });
});

describe('the order of tasks', () => {
  it('is newest first, over all agents', () => {
    const tasks = [of('two', 3), of('one', 1), of('two', 1), of('one', 2)];
    expect(newestFirst(tasks).map(({ agent, id }) => `${agent} ${id}`)).toEqual([
      'one t-1',
      'two t-1',
      'one t-2',
      'two t-3',
    ]);
  });

  it('holds back tasks that may come after unread ones', () => {
    const ordered = newestFirst([of('one', 1), of('one', 5), of('two', 2), of('two', 3)]);
    const frontier = (number: number) => ({ cursor: '', oldest: of('two', number).created_at });
    expect(settled(ordered, []).length).toBe(4);
    expect(settled(ordered, [frontier(3)]).map(({ id }) => id)).toEqual(['t-1', 't-2', 't-3']);
    expect(settled(ordered, [frontier(3), frontier(2)]).map(({ id }) => id)).toEqual([
      't-1',
      't-2',
    ]);
  });
});

describe('seenRows', () => {
  it('covers the visible rows, and few more', () => {
    expect(seenRows(10_000, 44, 0, 600)).toEqual({ first: 0, end: 24 });
    expect(seenRows(10_000, 44, 44_000, 600)).toEqual({ first: 990, end: 1_024 });
    expect(seenRows(3, 44, 0, 600)).toEqual({ first: 0, end: 3 });
    expect(seenRows(3, 44, 44_000, 600)).toEqual({ first: 3, end: 3 });
  });
});
