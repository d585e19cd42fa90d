import { expect, it } from 'vitest';
import { decisionRequests } from '../../../../../src/ui/dashboard/views/approvals/send-decisions.ts';
import { severalWords } from '../../../../../src/ui/dashboard/views/approvals/several-words.ts';
import { aDeferral } from '../../../../helpers/page-fixtures.ts';

function calls(agent: string, count: number) {
  return Array.from({ length: count }, (_, index) =>
    aDeferral({ agent_id: agent, id: `d-${index}`, task_id: `t-${index}` }),
  );
}

it('at most a hundred decisions are sent to an agent at once, each pinned to its call', () => {
  const details = { note: 'no', email: 'ann@example.com', token: 't' };
  const requests = decisionRequests(
    [...calls('refunds', 104), ...calls('ops', 1)],
    'reject',
    details,
  );
  expect(requests.map(({ agent, body }) => [agent, body.decisions.length])).toEqual([
    ...[
      ['refunds', 100],
      ['refunds', 4],
      ['ops', 1],
    ],
  ]);
  const { args_sha256 } = aDeferral();
  expect(requests[1]?.body).toEqual({
    decisions: [100, 101, 102, 103].map((index) => ({
      ...{ task_id: `t-${index}`, deferral_id: `d-${index}`, args_sha256 },
      ...{ decision: 'reject', note: 'no', approver_email: 'ann@example.com' },
    })),
    token: 't',
  });
});

it('the result of one decision on several calls is shown', () => {
  const [call = aDeferral()] = calls('refunds', 1);
  const words = (...kinds: ('resolved' | 'recorded' | 'over' | 'refused')[]) =>
    severalWords(
      'approve',
      kinds.map((kind) => ({ call, outcome: { kind, problem: '' } })),
    );
  expect(words('resolved', 'resolved')).toBe('Approved 2 calls.');
  expect(words('resolved', 'recorded', 'over', 'refused', 'refused')).toBe(
    'Approved 1 call; 1 needs another approval; 1 was no longer pending; 2 were refused.',
  );
});
