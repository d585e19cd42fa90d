import { describe, expect, it } from 'vitest';
import { type LineFilter, matchingLine } from '../../../../src/actors/records/log/tailed-line.ts';

const limit = 4 * 1024 * 1024;
const event = { event: 'task_deferred', ts: '', task_id: 't-1' };
const text = JSON.stringify(event);

const match = (line: string, filter: LineFilter = {}) => matchingLine(Buffer.from(line), filter);

describe('matchingLine', () => {
  it.each<LineFilter>([
    {},
    { task: 't-1' },
    { event: 'task_deferred' },
    { event: 'task_*' },
    { event: '*' },
    { task: 't-1', event: 'task_deferred*' },
  ])('accepts a matching line: %j', (filter) => {
    expect(match(text, filter)).toStrictEqual({ text, event });
  });

  it.each<LineFilter>([
    { task: 't' },
    { task: '' },
    { event: 'task_' },
    { event: 'task_deferred_*' },
    { event: '' },
    { task: 't-1', event: 'x' },
    { task: 't-2', event: '*' },
  ])('drops other lines: %j', (filter) => {
    expect(match(text, filter)).toBeNull();
  });

  it('compares the time of an event with a range', () => {
    const timed = JSON.stringify({ ...event, ts: '2026-07-01T09:00:00.000Z' });
    const at = Date.UTC(2026, 6, 1, 9);
    expect(match(timed, { from: at, to: at })?.text).toBe(timed);
    expect(match(timed, { from: at + 1 })).toBeNull();
    expect(match(timed, { to: at - 1 })).toBeNull();
    expect(match(text, { from: 0 })).toBeNull();
    expect(match('nonsense', { from: 0 })).toBeNull();
  });

  it('shows a line without an event only without a filter', () => {
    expect(match('nonsense')).toStrictEqual({ text: 'nonsense', event: null });
    expect(match('nonsense', { event: '*' })).toBeNull();
    expect(match('nonsense', { task: '' })).toBeNull();
  });

  it('finds no event in a line above 4 MiB', () => {
    const long = text + ' '.repeat(limit - text.length);
    expect(match(long)).toStrictEqual({ text: long, event });
    expect(match(`${long} `)).toStrictEqual({ text: `${long} `, event: null });
  });
});
