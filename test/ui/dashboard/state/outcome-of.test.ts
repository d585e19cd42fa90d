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
    'once it ran',
    [approved, begun, ['tool_exec', { phase: 'end' }]],
    { isFine: true, words: 'ran' },
  ],
  [
    'once it failed',
    [approved, begun, ['tool_exec', { phase: 'end', error: 'exit code 1: refunded' }]],
    { isFine: false, words: 'failed: exit code 1: refunded' },
  ],
  [
    'when its task ended first',
    [approved, ['session_end', { tool: undefined }]],
    { isFine: false, words: 'never ran' },
  ],
  [
    'when it is held anew',
    [approved, ['task_deferred']],
    { isFine: false, words: 'is waiting for approval again' },
  ],
  [
    'when its task ended in the middle',
    [approved, begun, ['session_end', { tool: undefined }]],
    { isFine: false, words: 'started; outcome unknown' },
  ],
  ['of another tool', [approved, ['tool_exec', { tool: 'mail', phase: 'end' }]], null],
] as [string, [string, Record<string, unknown>?][], object | null][])(
  'reads what came of a call %s',
  (_, told, outcome) => {
    expect(outcomeOf(events(...told), held)).toEqual(outcome);
  },
);
