import { formatDuration } from '../duration.ts';
import { oneLine } from '../legible.ts';
import type { ApprovalNotice } from './approval-notice.ts';

/** Returns the outcome of a wait as a short heading; `Approval needed` while it is pending. */
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

/** Returns the outcome of a wait, its cause and its consequence on one line; untrusted text comes last. */
export function endingOf({ request, outcome }: ApprovalNotice): string {
  switch (outcome?.kind) {
    case undefined:
      return 'No decisions yet.';
    case 'approved':
      return `Approved by ${oneLine(outcome.approver)}`;
    case 'rejected':
      return `Rejected by ${oneLine(outcome.approver)}`;
    case 'timedOut':
      return `No decision within ${formatDuration(request.timeout)}, so the call was denied.`;
    case 'canceled':
      return 'The task was canceled before a decision.';
    case 'abandoned':
      return outcome.reason === 'service_restart'
        ? 'The service was restarted while the call waited, so the task failed. Send the task again.'
        : 'The caller disconnected before a decision, so the task failed. Send the task again.';
  }
}

/** Returns the answer to a late decision, with the outcome of the wait, on one line. */
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

/** Returns the reason given for the outcome, with its label; `null` without one. */
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
