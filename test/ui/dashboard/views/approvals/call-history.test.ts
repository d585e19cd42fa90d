import { expect, it } from 'vitest';
import {
  historyOf,
  historyWords,
} from '../../../../../src/ui/dashboard/views/approvals/call-history.ts';
import { aDeferral } from '../../../../helpers/page-fixtures.ts';

const ann = { user_id: 'ann', email: 'ann@example.com', provider: 'oidc' };
const call = aDeferral({ id: 'c-now', tool: 'pay', requester: ann });

/** A line of the log; the call of `c-1` is in the task `t-c-1`. */
function line(event: string, id: string, fields: object = {}): string {
  const own = { deferral_id: id, tool: 'pay', ...fields };
  return JSON.stringify({ event, ts: '2026-03-01T10:00:00Z', task_id: `t-${id}`, fields: own });
}

const lines = [
  line('task_deferred', 'c-1', ann),
  line('task_deferred_decision', 'c-1', {
    decision: 'approve',
    approver: 'eve',
    authorized: false,
  }),
  line('task_deferred_decision', 'c-1', { decision: 'approve', approver: 'bob' }),
  line('hold_deferred', 'c-2', ann),
  line('hold_deferred_decision', 'c-2', { decision: 'reject', approver: 'carol' }),
  line('task_deferred', 'c-3', ann),
  line('task_deferred_timeout', 'c-3'),
  line('task_deferred', 'c-4', ann),
  // Calls of another tool, of another person and of no one.
  line('task_deferred', 'c-5', { ...ann, tool: 'mail' }),
  line('task_deferred', 'c-6', { ...ann, provider: 'other' }),
  line('task_deferred', 'c-7'),
  'no line of a log',
  line('task_deferred', 'c-now', ann),
];

it('the history of a call has the earlier calls of the tool by its requester, newest first', () => {
  const at = '2026-03-01T10:00:00Z';
  expect(historyOf(lines, call)).toEqual([
    { task: 't-c-4', at, end: null, by: null },
    { task: 't-c-3', at, end: 'timed out', by: null },
    { task: 't-c-2', at, end: 'rejected', by: 'carol' },
    { task: 't-c-1', at, end: 'approved', by: 'bob' },
  ]);
  expect(historyOf(lines, { ...call, requester: null }).map(({ task }) => task)).toEqual(['t-c-7']);
});

it('the history of a call is summarised in one sentence', () => {
  expect(historyWords([])).toBe('Not requested before.');
  expect(historyWords(historyOf(lines, call))).toBe(
    'Requested 4 times before: 1 approved, 1 rejected (by carol), 1 timed out, 1 still waiting.',
  );
});
