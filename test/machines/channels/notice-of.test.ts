import { describe, expect, it } from 'vitest';
import {
  type AskedRecord,
  type EndedRecord,
  noticeOf,
  outcomeOf,
} from '../../../src/machines/channels/notice-of.ts';
import type { Caller, SettledDeferral } from '../../../src/machines/domain/task.ts';
import { aNotice } from '../../helpers/approval-notices.ts';
import { aCaller, aDeferral, digest } from '../../helpers/task-fixtures.ts';

function asked(requester: Caller | null = aCaller()): AskedRecord {
  const { args: _, ...deferral } = aDeferral({ context: 'refund order 7' });
  return { taskId: 'task-1', deferral, requester, stage: 'asked' };
}

function ended(overrides: Partial<EndedRecord>): EndedRecord {
  return {
    state: 'failed',
    text: null,
    changedAt: 9_000,
    settled: null,
    failure: null,
    ...overrides,
  };
}

const settled: SettledDeferral = {
  id: 'call-1',
  tool: 'issue_refund',
  argsSha256: digest,
  decision: 'reject',
  approver: 'ann@example.com',
  note: 'too much',
  decidedAt: 8_000,
};

const args = { order: 7 };

describe('a notice about a held call', () => {
  it('contains what approvers see, without an outcome while the call waits', () => {
    expect(noticeOf('channel:slack:#refunds', asked(), null)).toEqual(aNotice({ args }));
  });

  it('states how the wait ended', () => {
    expect(noticeOf('channel:slack:#refunds', asked(), ended({ settled }))).toEqual(
      aNotice(
        { args },
        { kind: 'rejected', approver: 'ann@example.com', note: 'too much', at: 8_000 },
      ),
    );
  });

  it('counts the approvals so far, and states the escalation stage', () => {
    const { deferral, ...rest } = asked();
    const approvals = [{ approver: 'ann@example.com', at: 5_000 }];
    const counted = {
      ...rest,
      deferral: { ...deferral, quorum: 2, approvals },
      stage: 'escalated',
    } as const;
    expect(noticeOf('channel:console:*', counted, null)).toEqual(
      aNotice({ args, target: 'channel:console:*', quorum: 2, approvals, stage: 'escalated' }),
    );
  });

  it.each([
    [aCaller(), 'rita@example.com'],
    [{ provider: 'ops', userId: 'rita' }, 'rita'],
    [{ provider: 'ops', userId: 'rita', email: '' }, 'rita'],
    [{ provider: 'ops', userId: '' }, null],
    [{ provider: 'runtime', userId: 'runtime' }, null],
    [{ provider: 'chat', userId: 'chat' }, null],
    [{ provider: 'chat', userId: 'chat', email: 'rita@example.com' }, 'rita@example.com'],
    [{ provider: 'chat', userId: 'telegram:7' }, 'telegram:7'],
    [null, null],
  ])('names the requester %o as %s', (requester, name) => {
    expect(noticeOf('channel:slack:#refunds', asked(requester), null).request.requester).toBe(name);
  });

  it.each([
    [
      'an approval',
      { state: 'working', settled: { ...settled, decision: 'approve', note: '' } },
      { kind: 'approved', approver: 'ann@example.com', note: '', at: 8_000 },
    ],
    [
      'a rejection',
      { settled, failure: { kind: 'rejected', tool: 'x', text: 'defer: rejected' } },
      { kind: 'rejected', approver: 'ann@example.com', note: 'too much', at: 8_000 },
    ],
    [
      'a rejection that the model receives',
      { state: 'working', settled },
      { kind: 'rejected', approver: 'ann@example.com', note: 'too much', at: 8_000 },
    ],
    [
      'the deadline',
      { failure: { kind: 'timedOut', tool: 'x', text: 'defer: no decision' } },
      { kind: 'timedOut', at: 9_000 },
    ],
    [
      'a cancel',
      { state: 'canceled', text: 'canceled: wrong order' },
      { kind: 'canceled', reason: 'wrong order', at: 9_000 },
    ],
    [
      'a cancel with another reason',
      { state: 'canceled', text: 'it was canceled: late' },
      { kind: 'canceled', reason: 'it was canceled: late', at: 9_000 },
    ],
    [
      'a cancel without a reason',
      { state: 'canceled' },
      { kind: 'canceled', reason: '', at: 9_000 },
    ],
    [
      'a disconnected caller',
      { failure: { kind: 'abandoned', tool: 'x', text: 'defer: abandoned, caller disconnected' } },
      { kind: 'abandoned', reason: 'caller_disconnected', at: 9_000 },
    ],
    [
      'a restart',
      { failure: { kind: 'abandoned', tool: 'x', text: 'defer: abandoned by service restart' } },
      { kind: 'abandoned', reason: 'service_restart', at: 9_000 },
    ],
    [
      'a defect',
      { failure: { kind: 'internal', text: 'the task failed inside the service' } },
      { kind: 'canceled', reason: 'the task failed inside the service', at: 9_000 },
    ],
    [
      'an earlier decision on another call, and a cancel',
      { state: 'canceled', text: 'canceled: late', settled: { ...settled, id: 'call-0' } },
      { kind: 'canceled', reason: 'late', at: 9_000 },
    ],
    [
      'an unknown end',
      { state: 'working' },
      { kind: 'canceled', reason: 'the task continued without a decision', at: 9_000 },
    ],
  ] as [string, Partial<EndedRecord>, object][])('states the end by %s', (_, record, outcome) => {
    expect(outcomeOf({ id: 'call-1', expiresAt: 1 }, ended(record))).toEqual(outcome);
  });

  it('states a timeout that the model receives, and no earlier end', () => {
    const record = ended({ state: 'working' });
    const outcomes = [9_000, 9_001].map((expiresAt) =>
      outcomeOf({ id: 'call-1', expiresAt, onTimeout: 'tool_result' }, record),
    );
    expect(outcomes).toMatchObject([{ kind: 'timedOut', at: 9_000 }, { kind: 'canceled' }]);
  });
});
