import type {
  ApprovalNotice,
  ApprovalOutcome,
  ApprovalRequest,
} from '../../../../src/machines/channels/approval-notice.ts';
import { aRequest } from '../../../helpers/approval-notices.ts';

/** 2026-03-04 05:06:07.008 UTC, in epoch milliseconds. */
export const asked = Date.UTC(2026, 2, 4, 5, 6, 7, 8);

/** A refund that waits five minutes for Ann or Bob. */
export function aNotice(
  overrides: Partial<ApprovalRequest> = {},
  outcome: ApprovalOutcome | null = null,
): ApprovalNotice {
  const request = aRequest({
    taskId: 'task:1',
    deferralId: '0199aaaa-0000-7000-8000-000000000001',
    context: 'pays back 40 € for order A-1042',
    argsSha256: 'a1'.repeat(32),
    target: 'channel:webhook:ops',
    approvers: ['ann@example.com', 'bob@example.com'],
    requestedAt: asked,
    expiresAt: asked + 300_000,
    ...overrides,
  });
  return { request, outcome };
}

/** One minute after the request. */
const at = asked + 60_000;

/** Every way in which a wait ends. */
export const outcomes = {
  approved: { kind: 'approved', approver: 'ann@example.com', note: 'checked', at },
  rejected: { kind: 'rejected', approver: 'bob@example.com', note: '', at },
  timedOut: { kind: 'timedOut', at },
  canceled: { kind: 'canceled', reason: 'workflow_failure', at },
  abandoned: { kind: 'abandoned', reason: 'service_restart', at },
} as const satisfies { [Kind in ApprovalOutcome['kind']]: ApprovalOutcome & { kind: Kind } };
