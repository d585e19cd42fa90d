import { describe, expect, it } from 'vitest';
import {
  type ApprovalNotice,
  newsOf,
  splitTarget,
} from '../../../src/machines/channels/approval-notice.ts';
import { aNotice } from '../../helpers/approval-notices.ts';

const approvals = [{ approver: 'ann', at: 5 }];
const end = { kind: 'timedOut', at: 9 } as const;

describe('the changes between two notices', () => {
  it.each<[string | null, ApprovalNotice, ApprovalNotice]>([
    [null, aNotice(), aNotice()],
    [null, aNotice({}, end), aNotice({}, end)],
    ['reminded', aNotice(), aNotice({ stage: 'reminded' })],
    ['changed', aNotice({ stage: 'reminded' }), aNotice({ stage: 'reminded', context: 'more' })],
    ['changed', aNotice({ stage: 'reminded' }), aNotice({ stage: 'escalated' })],
    ['changed', aNotice({ approvals }), aNotice({ approvals: [] })],
    ['counted', aNotice(), aNotice({ approvals })],
    ['counted', aNotice(), aNotice({ approvals, stage: 'reminded' })],
    ['reminded', aNotice({ approvals }), aNotice({ approvals, stage: 'reminded' })],
    ['repeated', aNotice({ requests: 2 }), aNotice({ requests: 3 })],
    ['ended', aNotice(), aNotice({ approvals, stage: 'reminded' }, end)],
  ])('is %s', (news, before, now) => {
    expect(newsOf(before, now)).toBe(news);
  });
});

describe('a target', () => {
  it.each([
    ['channel:slack:#refunds', 'slack', '#refunds'],
    ['channel:console:*', 'console', '*'],
    ['channel:webhook: https://ops.example:8443/hook ', 'webhook', 'https://ops.example:8443/hook'],
    ['channel:slack', 'slack', ''],
    ['ann', '', ''],
  ])('of %j belongs to an adapter', (to, adapter, target) => {
    expect(splitTarget(to)).toEqual({ adapter, target });
  });
});
