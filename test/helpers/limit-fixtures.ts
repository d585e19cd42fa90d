import type { FirstEffect, MeasuredLimit, OpenOutcome } from '../../src/machines/domain/ledger.ts';
import { digest } from './task-fixtures.ts';

/** A limit of 5,000 a day for each caller, which a refund of 900 exceeds. */
export function aMeasuredLimit(overrides: Partial<MeasuredLimit> = {}): MeasuredLimit {
  return {
    ...{
      name: 'refunds_a_day',
      key: '{"caller":["okta","rita"]}',
      by: { caller: 'rita@example.com' },
    },
    ...{ period: { rolling: 86_400_000 }, max: '5000', used: '4200', reserved: '300' },
    ...{ amount: '900', isOver: true },
    ...overrides,
  };
}

/** A refund of the same order that Bob requested before. */
export function aFirstEffect(overrides: Partial<FirstEffect> = {}): FirstEffect {
  return {
    ...{ key: 'refund:A-2001', callId: 'call-0', taskId: 't-0', argsSha256: digest },
    requester: { provider: 'okta', userId: 'u-2', email: 'bob@example.com' },
    ...{ at: 1_000, approver: 'ann@example.com', outcome: 'succeeded' },
    ...overrides,
  };
}

/** A refund that was cut off, and whose outcome nobody knows. */
export function anOpenOutcome(overrides: Partial<OpenOutcome> = {}): OpenOutcome {
  return {
    ...{ callId: 'call-1', taskId: 't-1', tool: 'issue_refund', argsSha256: digest, at: 2_000 },
    requester: { provider: 'okta', userId: 'u-1', email: 'rita@example.com' },
    entries: [
      { kind: 'limit', name: 'refunds_a_day', key: '{}', amount: '900', until: 9_000 },
      { kind: 'effect', name: 'issue_refund', key: 'refund:A-2001', until: null },
    ],
    ...overrides,
  };
}
