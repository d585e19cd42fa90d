import { expect, it } from 'vitest';
import {
  approvalWords,
  deciders,
  rightOf,
} from '../../../../../src/ui/dashboard/views/approvals/approver-words.ts';
import { aDeferral } from '../../../../helpers/page-fixtures.ts';

it.each<[Parameters<typeof aDeferral>[0], string, string]>([
  [{}, 'Anyone notified', '1 approval needed'],
  [{ approvers: [] }, 'No approvers listed', '1 approval needed'],
  [
    { approvers: ['ann@example.com', 'group:finance', 'oncall:ops', 'claim:department=legal'] },
    'ann@example.com, the finance group, the person on call for ops, or people with department legal',
    '1 approval needed',
  ],
  [
    {
      approvers: ['group:finance', 'group:legal'],
      quorum: 3,
      quorum_of: { 'group:finance': 2, 'group:legal': 1 },
    },
    'the finance group or the legal group',
    'approvals needed: 2 from the finance group and 1 from the legal group',
  ],
  [
    { approvers: ['group:finance'], also_by: [['ann@example.com']] },
    'the finance group, if also listed in: ann@example.com',
    '1 approval needed',
  ],
])('the possible approvers are named: %j', (call, who, how) => {
  expect(deciders(aDeferral(call))).toEqual({ who, how: `${how}; notified: #refunds (slack)` });
});

const at = '2026-03-01T10:00:00Z';

it.each([
  [{}, 'Approved by bob'],
  [{ for: 'ann' }, 'Approved by bob for ann'],
  [{ for: 'ann', as: ['group:finance'] }, 'Approved by bob for ann, counted for the finance group'],
  [{ as: ['bob@example.com'] }, 'Approved by bob'],
])('the approvers are named: %j', (more, words) => {
  expect(approvalWords({ approver: 'bob', at, ...more })).toBe(words);
});

it.each<[string, string, Parameters<typeof aDeferral>[0]]>([
  ['yes', '', {}],
  ['no', '', { approvers: ['ann@example.com'] }],
  ['no', '', { approvers: ['group:finance'] }],
  ['yes', ' Ann@Example.com', { approvers: ['ann@example.com'] }],
  ['unknown', 'ann@example.com', { approvers: ['group:finance'] }],
  ['no', 'ann@example.com', { approvers: ['bob@example.com'] }],
  ['no', 'ann@example.com', { approvers: [] }],
  ['no', 'ann@example.com', { approvers: ['ann@example.com'], also_by: [['bob@example.com']] }],
  ['no', 'ann@example.com', { approvals: [{ approver: 'ann@example.com', at }], quorum: 2 }],
])('%s is shown for %j of a call with %j', (right, email, call) => {
  expect(rightOf(aDeferral(call), email)).toBe(right);
});
