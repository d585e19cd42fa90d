import { expect, it } from 'vitest';
import type { DeferralJson } from '../../../../../src/http/wire/dashboard/held-call-json.ts';
import {
  newsOf,
  spokenNews,
  unreadWords,
} from '../../../../../src/ui/dashboard/views/approvals/call-news.ts';
import { aDeferral } from '../../../../helpers/page-fixtures.ts';

const at = '2026-03-01T10:00:00.000Z';
const opened = aDeferral({ quorum: 2, approvers: ['bob@example.com'] });
const message = { from: 'ann@example.com', text: 'Stop', at };
const approval = { approver: 'bob@example.com', at };

it.each([
  ['nothing', {}, []],
  ['another list entry of the same call', { title: 'x', args_schema: {} }, []],
  ['a message', { messages: [message] }, ['New message from ann@example.com: Stop']],
  ['an approval', { approvals: [approval] }, ['Approved by bob@example.com']],
  ['an escalation', { escalated_to: 'channel:slack:#leads' }, ['Escalated to #leads (slack)']],
  [
    'other approvers',
    { approvers: ['group:finance'] },
    ['The approvers changed: the finance group; 2 approvals needed; notified: #refunds (slack)'],
  ],
  ['a repeated request', { requests: 3 }, ['Requested 3 times; it runs once']],
  ['another deadline', { expires_at: at }, ['The deadline changed']],
  ['other arguments', { args: { amount: 5 } }, ['The call changed; read it again']],
  ['another digest', { runs_sha256: 'a'.repeat(64) }, ['The call changed; read it again']],
  ['other demands', { require_reason: 'both' }, ['The call changed; read it again']],
] as [string, Partial<DeferralJson>, string[]][])(
  'the news of a call include %s',
  (_, changes, spoken) => {
    expect(newsOf(opened, { ...opened, ...changes }, '').map(spokenNews)).toEqual(spoken);
  },
);

it('the news of a call omit what it had when it was opened, and the approval of the person', () => {
  const before = { ...opened, messages: [message] };
  const now = { ...before, messages: [message, { ...message, text: 'Go' }], approvals: [approval] };
  expect(newsOf(before, now, 'BOB@example.com').map(({ key }) => key)).toEqual(['message 1']);
});

it('unread news are counted', () => {
  expect(unreadWords([])).toBe('');
  expect(unreadWords(['message 0'])).toBe('1 new message');
  expect(unreadWords(['message 0', 'message 1'])).toBe('2 new messages');
  expect(unreadWords(['message 0', 'approval 0'])).toBe('2 changes');
});
