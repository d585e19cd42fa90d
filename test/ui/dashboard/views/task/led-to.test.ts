import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { DrawnChart } from '../../../../../src/ui/dashboard/chart/drawn-chart.ts';
import { walk } from '../../../../../src/ui/dashboard/chart/walk.ts';
import { isStopIn, stopsOfEvents } from '../../../../../src/ui/dashboard/views/task/led-to.ts';

const file = `${import.meta.dirname}/../../../../../src/ui/dashboard/chart/task-chart.json`;
const chart = JSON.parse(readFileSync(file, 'utf8')) as DrawnChart;
const start = Date.parse('2026-11-22T12:00:00.000Z');
const at = (milliseconds: number) => new Date(start + milliseconds).toISOString();

function stopsAt(...states: [state: string, after: number][]) {
  return walk(
    chart,
    states.map(([state, after]) => ({ state, event: '', entered_at: at(after) })),
  );
}

function happened(after: number, event: string, fields: Record<string, unknown> = {}) {
  return { at: at(after), event, fields };
}

const held = stopsAt(
  ['submitted', 0],
  ['working.thinking', 2],
  ['working.governing', 15],
  ['deferred.asked', 16],
  ['working.executing.calling.starting', 90_016],
  ['working.executing.recording', 90_020],
  ['working.thinking', 90_020],
  ['completed', 90_031],
);

function ledTo(...entries: ReturnType<typeof happened>[]) {
  return stopsOfEvents(entries, held).map((stop) => held[stop]?.box.name);
}

describe('stopsOfEvents', () => {
  it('assigns each event to its state, for any clocks', () => {
    expect(
      ledTo(
        happened(4, 'session_start'),
        happened(11, 'llm_call'),
        happened(11, 'tool_call_modified', { part: 'arguments' }),
        happened(15, 'task_deferred'),
        happened(90_016, 'task_deferred_decision', { decision: 'approve' }),
        happened(90_018, 'tool_exec', { phase: 'start' }),
        happened(90_021, 'tool_exec', { phase: 'end' }),
        happened(90_029, 'llm_call'),
        happened(90_031, 'session_end'),
      ),
    ).toEqual([
      'submitted',
      'governing',
      'asked',
      'asked',
      'running',
      'running',
      'recording',
      'completed',
      'completed',
    ]);
  });

  it('keeps an event without a change of state at its place', () => {
    expect(
      ledTo(
        happened(15, 'task_deferred'),
        happened(40_000, 'task_deferred_decision', { decision: 'approve' }),
        happened(50_000, 'task_deferred_decision', { decision: 'reject', authorized: false }),
        happened(60_000, 'message_received'),
        happened(90_017, 'egress_allowed'),
        happened(90_018, 'constructor'),
      ),
    ).toEqual(['asked', 'asked', 'asked', 'asked', 'running', 'running']);
  });

  it('has the first stop for every event where there is only one', () => {
    expect(
      stopsOfEvents(
        [happened(-5, 'session_start'), happened(9, 'llm_call')],
        stopsAt(['submitted', 0]),
      ),
    ).toEqual([0, 0]);
  });
});

describe('isStopIn', () => {
  it('includes the regions around a stop', () => {
    const [, , , asked] = held;
    expect(['deferred', 'deferred.asked', 'working'].map((box) => isStopIn(asked, box))).toEqual([
      true,
      true,
      false,
    ]);
    expect(isStopIn(undefined, 'working')).toBe(false);
  });
});
