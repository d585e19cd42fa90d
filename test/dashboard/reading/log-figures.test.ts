import { describe, expect, it } from 'vitest';
import { LogFigures } from '../../../src/dashboard/reading/log-figures.ts';
import { anOverviewDay } from '../../helpers/overview-fixtures.ts';

const at = (day: number, time: string) => `2026-11-${day}T${time}.000Z`;
const range = {
  from: Date.parse(at(22, '12:00:00')),
  to: Date.parse(at(24, '12:00:00')),
  zone: 'Europe/Berlin',
};

const line = (ts: string, event: string, fields: object, task = 't-1') => ({
  ...{ ts, event, task_id: task, fields: { ...fields } },
});

const deferred = (ts: string, call: string, task = 't-1') =>
  line(ts, 'task_deferred', { call_id: call, tool: 'pay' }, task);

const decision = (ts: string, call: string, fields: object, task = 't-1') =>
  line(ts, 'task_deferred_decision', { call_id: call, tool: 'pay', ...fields }, task);

const ann = { approver: 'ann@example.com', decision: 'approve', wait_ms: 60_000 };
const end = (ts: string, call: string, outcome: string, error = '') =>
  line(ts, 'tool_exec', { call_id: call, tool: 'pay', phase: 'end', outcome, error });

function figuresOf(lines: readonly ReturnType<typeof line>[]) {
  const figures = new LogFigures(range);
  figures.add('till');
  for (const one of lines) figures.read('till', one);
  return figures.figures();
}

describe('the figures of a log', () => {
  it('count each wait once, on the day of its end in the zone', () => {
    const bob = { ...ann, approver: 'bob@example.com' };
    const figures = figuresOf([
      // 23:30 in Berlin is still the 22nd; 23:30 UTC is the 23rd there.
      decision(at(22, '22:30:00'), 'c-1', ann),
      decision(at(22, '23:30:00'), 'c-2', { ...ann, decision: 'reject', wait_ms: 120_000 }),
      decision(at(23, '09:00:00'), 'c-3', { ...ann, edited_args_sha256: 'ab' }),
      decision(at(23, '09:01:00'), 'c-3', { ...bob, wait_ms: 180_000 }),
      decision(at(23, '09:02:00'), 'c-4', { ...bob, authorized: false }),
      line(at(23, '10:00:00'), 'hold_deferred_timeout', { call_id: 'c-5', wait_ms: 600_000 }),
      deferred(at(24, '11:00:00'), 'c-6'),
      decision(at(24, '13:00:00'), 'c-6', ann),
    ]);
    expect(figures).toMatchObject({
      ...{ p50_ms: 120_000, p95_ms: 180_000, failures: [] },
      days: [
        anOverviewDay({ day: '2026-11-22', approved: 1, p50_ms: 60_000, p95_ms: 60_000 }),
        anOverviewDay({
          ...{ day: '2026-11-23', changed: 1, rejected: 1, expired: 1 },
          ...{ p50_ms: 180_000, p95_ms: 180_000 },
        }),
        anOverviewDay({ day: '2026-11-24' }),
      ],
      people: [
        { name: 'ann@example.com', decisions: 3, rejected: 1, median_ms: 60_000 },
        { name: 'bob@example.com', decisions: 1, rejected: 0, median_ms: 180_000 },
      ],
    });
  });

  it('count failures of approved calls alone, also of other programs', () => {
    const { failures, days } = figuresOf([
      decision(at(23, '09:00:00'), 'c-1', ann),
      end(at(23, '09:00:01'), 'c-1', 'failed', 'no such order'),
      decision(at(23, '09:10:00'), 'c-2', ann),
      end(at(23, '09:10:01'), 'c-2', 'succeeded'),
      decision(at(23, '09:20:00'), 'c-3', ann),
      end(at(23, '09:20:01'), 'c-3', 'not_run'),
      end(at(23, '09:30:00'), 'c-4', 'failed', 'nobody was asked'),
      decision(at(24, '09:00:00'), 'c-5', ann, 'h-1'),
      line(at(24, '09:00:01'), 'hold_outcome', { call_id: 'c-5', status: 'unknown' }, 'h-1'),
    ]);
    expect(failures).toEqual([
      {
        ...{ agent_id: 'till', tool: 'pay', failed: 2, ran: 3 },
        ...{ last_error: 'outcome unknown', task_id: 'h-1' },
      },
    ]);
    expect(days.map(({ day, failed }) => [day, failed])).toEqual([
      ['2026-11-22', 0],
      ['2026-11-23', 1],
      ['2026-11-24', 1],
    ]);
  });

  it('add up tokens, and draw the last 24 hours, also of waits that began before', () => {
    const { agents } = figuresOf([
      line(at(23, '09:00:00'), 'llm_call', { input_tokens: 1_000, output_tokens: 20 }),
      line(at(23, '09:00:00'), 'llm_call', { input_tokens: 500, output_tokens: 'many' }),
      decision(at(23, '13:00:00'), 'c-1', { ...ann, wait_ms: 7_200_000 }),
      line(at(24, '08:00:00'), 'session_start', {}),
      deferred(at(24, '09:00:00'), 'c-2'),
      decision(at(24, '10:00:00'), 'c-2', ann),
      line(at(24, '10:30:00'), 'session_end', {}),
      deferred(at(24, '11:00:00'), 'c-3', 't-2'),
    ]);
    const span = (state: string, from: string, to: string) => ({
      ...{ state, from: Date.parse(from), to: Date.parse(to) },
    });
    expect(agents).toEqual([
      {
        ...{ agent_id: 'till', input_tokens: 1_500, output_tokens: 20 },
        spans: [
          span('working', at(24, '08:00:00'), at(24, '10:30:00')),
          span('waiting', at(23, '12:00:00'), at(23, '13:00:00')),
          span('waiting', at(24, '09:00:00'), at(24, '10:00:00')),
          span('waiting', at(24, '11:00:00'), at(24, '12:00:00')),
        ],
      },
    ]);
  });

  it('leave out what is no event', () => {
    const figures = new LogFigures(range);
    figures.add('till');
    for (const odd of [undefined, null, 1, [], { event: 5 }, { event: 'x', ts: 'never' }]) {
      figures.read('till', odd as never);
    }
    expect(figures.figures().people).toEqual([]);
  });
});
