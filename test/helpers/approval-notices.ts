import type {
  ApprovalNotice,
  ApprovalOutcome,
  ApprovalRequest,
} from '../../src/machines/channels/approval-notice.ts';
import { digest, times } from './task-fixtures.ts';

/** A held refund that any person in a channel may release within five minutes. */
export function aRequest(overrides: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    taskId: 'task-1',
    deferralId: 'call-1',
    tool: 'issue_refund',
    context: 'refund order 7',
    argsSha256: digest,
    requester: 'rita@example.com',
    target: 'channel:slack:#refunds',
    approvers: null,
    quorum: 1,
    approvals: [],
    stage: 'asked',
    timeout: 300_000,
    requestedAt: times.thought,
    expiresAt: times.expired,
    ...overrides,
  };
}

/** A notice of a held call; it waits unless an outcome says otherwise. */
export function aNotice(
  request: Partial<ApprovalRequest> = {},
  outcome: ApprovalOutcome | null = null,
): ApprovalNotice {
  return { request: aRequest(request), outcome };
}
