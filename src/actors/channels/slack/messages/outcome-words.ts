import type { ApprovalNotice } from '../../../../machines/channels/approval-notice.ts';
import { formatDuration } from '../../../../machines/duration.ts';
import { oneLine } from '../../../../machines/legible.ts';

/** How a wait ended, in one word for a heading; `Approval needed` while it has not. */
export function headingOf({ request, outcome }: ApprovalNotice): string {
  switch (outcome?.kind) {
    case undefined:
      return request.stage === 'asked' ? 'Approval needed' : 'Still waiting for approval';
    case 'approved':
      return 'Approved';
    case 'rejected':
      return 'Rejected';
    case 'timedOut':
      return 'Timed out';
    case 'canceled':
      return 'Canceled';
    case 'abandoned':
      return 'Abandoned';
  }
}

/** Says on one line how a wait ended, who ended it, and what follows; whatever others wrote stands last. */
export function endingOf({ request, outcome }: ApprovalNotice): string {
  switch (outcome?.kind) {
    case undefined:
      return 'Nobody has decided yet.';
    case 'approved':
      return `Approved by ${oneLine(outcome.approver)}`;
    case 'rejected':
      return `Rejected by ${oneLine(outcome.approver)}`;
    case 'timedOut':
      return `Nobody decided within ${formatDuration(request.timeout)}, so the call was denied.`;
    case 'canceled':
      return 'The task was called off before anybody decided.';
    case 'abandoned':
      return outcome.reason === 'service_restart'
        ? 'The service was restarted while the call waited, so the task failed. Send the task again.'
        : 'Whoever sent the task left before anybody decided, so the task failed. Send the task again.';
  }
}

/** Tells somebody who decides too late how the wait ended; on one line. */
export function tooLate(notice: ApprovalNotice): string {
  const ending = endingOf(notice);
  switch (notice.outcome?.kind) {
    case 'approved':
    case 'rejected':
      return `Already ${ending[0]?.toLowerCase()}${ending.slice(1)}`;
    case 'timedOut':
      return `This approval has expired. ${ending}`;
    default:
      return `This approval is over. ${ending}`;
  }
}

/** What somebody gave as the reason of how a wait ended, and what to call it; `null` when there is none. */
export function reasonOf({ outcome }: ApprovalNotice): { label: string; text: string } | null {
  switch (outcome?.kind) {
    case 'approved':
      return outcome.note.trim() === '' ? null : { label: 'Note', text: outcome.note };
    case 'rejected':
      return outcome.note.trim() === '' ? null : { label: 'Reason', text: outcome.note };
    case 'canceled':
      return outcome.reason.trim() === '' ? null : { label: 'Reason', text: outcome.reason };
    default:
      return null;
  }
}
