import { expect, it } from 'vitest';
import type { DecidedCallJson } from '../../../../../src/http/wire/dashboard/held-call-json.ts';
import { decidedRows } from '../../../../../src/ui/dashboard/views/approvals/decided-rows.ts';
import { aDeferral } from '../../../../helpers/page-fixtures.ts';

const at = '2026-03-01T10:00:00.000Z';
const earlier: DecidedCallJson = {
  ...{ agent_id: 'ops', id: 'c-1', task_id: 't-1', tool: 'restart', args_sha256: 'a'.repeat(64) },
  ...{ decision: 'approve', approver: 'ann', note: 'as agreed', decided_at: at },
};

it('the decisions of this page are merged with the earlier ones, each once', () => {
  const deferral = aDeferral({ agent_id: 'ops', id: 'c-9', args: { amount: 5 } });
  const own = { deferral, verb: 'reject' as const, at: Date.parse(at), outcome: null };
  const rows = decidedRows([own], [{ ...earlier, id: 'c-9' }, earlier]);
  expect(rows).toEqual([
    {
      ...{ agent: 'ops', task: deferral.task_id, call: 'c-9', tool: deferral.tool, at },
      ...{ verb: 'reject', about: 'amount 5', outcome: null },
      pending: 'approved, no outcome yet',
    },
    {
      ...{ agent: 'ops', task: 't-1', call: 'c-1', tool: 'restart', at },
      ...{ verb: 'approve', about: 'as agreed', outcome: null },
      pending: 'approved, no outcome yet',
    },
  ]);
});

it.each([
  [{}, undefined],
  [{ outcome: 'ran' }, 'ran'],
  [{ outcome: 'failed', error: 'exit code 1' }, 'failed: exit code 1'],
  [{ outcome: 'never_ran' }, 'never ran'],
  [{ outcome: 'unknown' }, 'started; outcome unknown'],
] as const)('the outcome of an approval is shown: %j', (more, words) => {
  expect(decidedRows([], [{ ...earlier, ...more }])[0]?.outcome?.words).toBe(words);
});

it('an approved hold without a report is shown as released', () => {
  const deferral = aDeferral({ hold: { key: 'k-1' } });
  const own = { deferral, verb: 'approve' as const, at: Date.parse(at), outcome: null };
  expect(decidedRows([own], [])[0]?.pending).toBe('released, not reported yet');
});
