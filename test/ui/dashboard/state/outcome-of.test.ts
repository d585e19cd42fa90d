import { expect, it } from 'vitest';
import { outcomeOf } from '../../../../src/ui/dashboard/state/outcome-of.ts';

const held = { tool: 'pay', requested_at: '2026-03-01T10:00:00.000Z' };

/** Events of a task, a second apart. */
function events(...told: [event: string, fields?: Record<string, unknown>][]) {
  return told.map(([event, fields = {}], index) => ({
    ...{ line: index + 1, seq: index + 1, event, fields: { tool: 'pay', ...fields } },
    at: new Date(Date.parse(held.requested_at) + index * 1_000).toISOString(),
  }));
}

const approved = ['task_deferred_decision', { decision: 'approve' }] as [string, object];
const begun = ['tool_exec', { phase: 'start' }] as [string, object];

it.each([
  ['before the decision', [['task_deferred']], null],
  ['before it runs', [approved], null],
  ['while it runs', [approved, begun], null],
  [
    'after it ran',
    [approved, begun, ['tool_exec', { phase: 'end' }]],
    { isFine: true, words: 'ran' },
  ],
  [
    'after it failed',
    [approved, begun, ['tool_exec', { phase: 'end', error: 'exit code 1: refunded' }]],
    { isFine: false, words: 'failed: exit code 1: refunded' },
  ],
  [
    'after its task ended first',
    [approved, ['session_end', { tool: undefined }]],
    { isFine: false, words: 'never ran' },
  ],
  [
    'after it was held again',
    [approved, ['task_deferred']],
    { isFine: false, words: 'is waiting for approval again' },
  ],
  [
    'after its task ended in the middle',
    [approved, begun, ['session_end', { tool: undefined }]],
    { isFine: false, words: 'started; outcome unknown' },
  ],
  ['of another tool', [approved, ['tool_exec', { tool: 'mail', phase: 'end' }]], null],
] as [string, [string, Record<string, unknown>?][], object | null][])(
  'the outcome of a call is read %s',
  (_, told, outcome) => {
    expect(outcomeOf(events(...told), held)).toEqual(outcome);
  },
);

const ofHold = { ...held, hold: { key: 'k-1' } };
const ended = ['session_end', { tool: undefined }] as [string, object];

it.each([
  ['before its program received it', [approved, ended], null],
  ['before its program reported', [approved, ended, ['hold_released']], null],
  [
    'after its program reported success',
    [approved, ended, ['hold_released'], ['hold_outcome', { status: 'succeeded' }]],
    { isFine: true, words: 'ran' },
  ],
  [
    'after its program reported a failure',
    [approved, ended, ['hold_released'], ['hold_outcome', { status: 'failed', error: 'no disk' }]],
    { isFine: false, words: 'failed: no disk' },
  ],
  [
    'after its program reported that it did not run',
    [approved, ended, ['hold_released'], ['hold_outcome', { status: 'not_run' }]],
    { isFine: false, words: 'never ran' },
  ],
  [
    'without a report in time',
    [approved, ended, ['hold_released'], ['hold_unaccounted']],
    { isFine: false, words: 'was released; its program reported no outcome' },
  ],
  [
    'with a late report',
    [approved, ended, ['hold_unaccounted'], ['hold_outcome', { status: 'succeeded' }]],
    { isFine: true, words: 'ran' },
  ],
  [
    'after its approval was withdrawn',
    [approved, ended, ['hold_withdrawn', { reason: 'not fetched' }]],
    { isFine: false, words: 'never ran' },
  ],
] as [string, [string, Record<string, unknown>?][], object | null][])(
  'the outcome of a hold is read %s',
  (_, told, outcome) => {
    expect(outcomeOf(events(...told), ofHold)).toEqual(outcome);
  },
);
