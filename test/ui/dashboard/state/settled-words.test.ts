import { expect, it } from 'vitest';
import { settledWords } from '../../../../src/ui/dashboard/state/settled-words.ts';

const held = { agent_id: 'refunds', tool: 'pay', requested_at: '2026-03-01T10:00:00.000Z' };

function decision(at: string, fields: Record<string, unknown>) {
  return { line: 1, seq: 1, at, event: 'task_deferred_decision', fields };
}

it('the end of a wait names its decider, and none of another wait', () => {
  const approved = { decision: 'approve', tool: 'pay', approver: 'ann' };
  const earlier = decision('2026-03-01T09:59:59.000Z', approved);
  const other = decision('2026-03-01T10:00:02.000Z', { ...approved, tool: 'mail' });
  expect(settledWords([earlier, other], held)).toBeNull();
  expect(settledWords([earlier, decision('2026-03-01T10:00:01.000Z', approved), other], held)).toBe(
    'Decided elsewhere: pay of refunds was released by ann.',
  );
  const rejected = decision('2026-03-01T10:00:01.000Z', { ...approved, decision: 'reject' });
  expect(settledWords([rejected], held)).toBe(
    'Decided elsewhere: pay of refunds was rejected by ann.',
  );
});
