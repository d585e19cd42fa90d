import { describe, expect, it } from 'vitest';
import { answerOf, brief, deferralLines, timeLeft } from '../../../src/cli/task/print-task.ts';
import type { DeferralJson } from '../../../src/cli/task/task-shape.ts';

const now = Date.parse('2026-07-01T09:00:00.000Z');

function at(milliseconds: number): string {
  return new Date(now + milliseconds).toISOString();
}

describe('timeLeft', () => {
  it.each([
    [0, 'now'],
    [-5_000, 'now'],
    [1, 'in 1s'],
    [59_001, 'in 1m00s'],
    [299_000, 'in 4m59s'],
    [3_600_000, 'in 1h00m'],
    [90_061_000, 'in 1d01h'],
  ])('says for %d ms: %s', (milliseconds, words) => {
    expect(timeLeft(at(milliseconds), now)).toBe(words);
  });

  it('does not count towards a moment that cannot be read', () => {
    expect(timeLeft('soon', now)).toBe('now');
  });
});

describe('deferralLines', () => {
  const deferral: DeferralJson = {
    id: 'd-1',
    task_id: 't-1',
    tool: 'issue_refund',
    to: 'channel:console:*',
    context: 'pay\nback \u001b[2J',
    args: { order_id: 'A-1042' },
    args_sha256: '0'.repeat(64),
    requester: null,
    requested_at: at(0),
    expires_at: at(65_000),
    approvers: null,
    quorum: 1,
    approvals: [],
  };

  it('tells an approver all there is to know, each on one line', () => {
    expect(deferralLines(deferral, now)).toEqual([
      '  tool       issue_refund',
      '  arguments  {"order_id":"A-1042"}',
      '  context    pay\\u000aback \\u001b[2J',
      '  asked by   not signed in',
      '  goes to    channel:console:*',
      '  auto-deny  2026-07-01T09:01:05.000Z (in 1m05s)',
    ]);
  });

  it('names the approvers and counts their approvals', () => {
    const approvers = ['ann@example.com', 'bob@example.com'];
    const approvals = [{ approver: 'ann@example.com' }];
    const requester = { user_id: 'u-1', email: 'eve@example.com' };
    const lines = deferralLines({ ...deferral, approvers, quorum: 2, approvals, requester }, now);
    expect(lines).toContain('  approvers  ann@example.com, bob@example.com');
    expect(lines).toContain('  approvals  1 of 2');
    expect(lines).toContain('  asked by   eve@example.com');
    expect(deferralLines({ ...deferral, approvers: [] }, now)).toContain('  approvers  nobody');
  });
});

describe('answerOf', () => {
  it('shows text parts as they are and others as JSON', () => {
    const parts = [
      { kind: 'text', text: 'done' },
      { kind: 'data', data: { total: 3 } },
    ];
    const status = { state: 'completed', timestamp: at(0) };
    expect(answerOf({ id: 't-1', status, artifacts: [{ parts }] })).toBe(
      'done\n{"kind":"data","data":{"total":3}}',
    );
  });
});

describe('brief', () => {
  it('cuts to one line of a length', () => {
    expect(brief('  one\n two   three ', 9)).toBe('one two …');
    expect(brief('short', 9)).toBe('short');
  });
});
