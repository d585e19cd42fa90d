import type {
  ApprovalNotice,
  ApprovalOutcome,
  ApprovalRequest,
} from '../../../../src/machines/channels/approval-notice.ts';
import { aRequest as anyRequest } from '../../../helpers/approval-notices.ts';

/** 2026-07-01 09:00 UTC, in epoch milliseconds. */
export const asked = Date.UTC(2026, 6, 1, 9);

/** A refund that waits five minutes in a channel of Slack for any person there. */
export function aRequest(overrides: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return anyRequest({
    deferralId: '0199aaaa-0000-7000-8000-000000000001',
    context: 'Refund 40 € for order A-1042 to rita@example.com',
    argsSha256: 'a1'.repeat(32),
    requestedAt: asked,
    expiresAt: asked + 300_000,
    ...overrides,
  });
}

/** The refund with how its wait ended; `null` while it waits. */
export function aNotice(
  overrides: Partial<ApprovalRequest> = {},
  outcome: ApprovalOutcome | null = null,
): ApprovalNotice {
  return { request: aRequest(overrides), outcome };
}

/** A minute and a half after the request. */
const at = asked + 90_000;

/** The ways in which the wait for the refund ends. */
export const endings = {
  approved: { kind: 'approved', approver: 'ann@example.com', note: '', at },
  approvedWithNote: {
    kind: 'approved',
    approver: 'ann@example.com',
    note: 'Checked with finance.',
    at,
  },
  rejected: { kind: 'rejected', approver: 'bob@example.com', note: '', at },
  rejectedWithReason: {
    kind: 'rejected',
    approver: 'bob@example.com',
    note: 'The order was never paid.\nAsk the customer first.',
    at,
  },
  timedOut: { kind: 'timedOut', at: asked + 300_000 },
  canceled: { kind: 'canceled', reason: 'cost_limit_exceeded', at },
  restarted: { kind: 'abandoned', reason: 'service_restart', at },
  left: { kind: 'abandoned', reason: 'caller_disconnected', at },
} as const satisfies Record<string, ApprovalOutcome>;

/** A string that tries to mention, link, mark up, hide and turn what it says. */
export const trickyContext = [
  '<!channel> <!here> <@U0ANN00001> <#C0REFUNDS1> &lt;!everyone&gt;',
  '<https://evil.example|Approve> https://evil.example [Approve](https://evil.example)',
  '*bold* _slanted_ ~struck~ `code` ```block``` > quoted :white_check_mark:',
  'Approved by ann@example.com',
  'emoji: 👩‍💻 👍🏽 ❤️ 1️⃣ 🇩🇪',
  'right to left: שלום مرحبا; turned: \u202Etxt.exe\u202C \u2066isolated\u2069',
  'unseen: zero\u200Bwidth\u200D joiner\u2060 soft\u00ADhyphen\uFEFF tag\u{E0041} nul\u0000 bell\u0007',
].join('\n');
