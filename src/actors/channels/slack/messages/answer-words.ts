import type {
  ApprovalNotice,
  ApprovalRequest,
} from '../../../../machines/channels/approval-notice.ts';
import { tooLate } from '../../../../machines/channels/outcome-words.ts';
import type { DecisionAnswer } from '../../../../machines/governance/decision.ts';
import { oneLine } from '../../../../machines/legible.ts';
import { longestReason } from './reject-modal.ts';

/** Replies to a click or reason that reached no task. */
export const refusalWords = {
  unknown: 'This approval no longer exists, so nothing was decided.',
  misplaced:
    'This message is out of date for this approval, so nothing was decided. ' +
    'Use the newer message.',
  unrecorded: 'The decision could not be recorded, so nothing was decided. Try again in a moment.',
  unchecked:
    'Slack could not identify you just now, so nothing was decided. Try again in a moment.',
  uncheckedMember:
    'The members of a group of approvers could not be checked, so nothing was decided. Try again in a moment.',
  uncheckable:
    'Slack does not allow the agent to look up users, so nothing was decided. Contact the operator of the agent; its log names the missing scope.',
  unshown:
    'Slack could not show you the whole call, so nothing was decided. Click again, or decide in the dashboard or on the command line.',
  noModal: 'Slack could not ask you for a reason, so the call was rejected without one.',
  tooLong: `A reason may have ${longestReason} characters at most. Shorten it and try again.`,
} as const;

/** A Slack user who decides. */
export interface SlackApprover {
  /** The email, or the display name with the user id. */
  name: string;
  /** `null` if Slack provides no reliable email. */
  email: string | null;
  /** True for a bot or a deactivated user. */
  isBarred?: boolean;
}

/**
 * Returns the answer of a task to a decision on one line; `null` if the message itself will show it.
 *
 * @param notice the notice before the decision
 * @param approvals the current number of approvals
 */
export function answerWords(
  answer: DecisionAnswer,
  {
    notice,
    approver,
    approvals,
  }: { notice: ApprovalNotice; approver: SlackApprover; approvals: number },
): string | null {
  const { request } = notice;
  switch (answer.kind) {
    case 'resolved':
      return null;
    case 'recorded':
      return `Your approval is recorded: ${approvals} of ${request.quorum}.`;
    case 'forbidden':
      return forbiddenWords(request, approver);
    case 'noReason':
      return `A reason is required to ${answer.decision} this call, so nothing was decided. Click again, or decide in the dashboard or on the command line with a note.`;
    case 'noPasskey':
      return 'This call needs a passkey, so nothing was decided. Approve it on the approvals page.';
    case 'notEditable':
    case 'unfit':
    case 'notRememberable':
      return 'The arguments cannot be changed here, so nothing was decided.';
    case 'decided':
      return answer.settled.id === request.deferralId
        ? `Already ${pastOf[answer.settled.decision]} by ${oneLine(answer.settled.approver)}`
        : overWords;
    case 'notPending':
      return notice.outcome === null
        ? 'This approval has expired, or its task has ended. Nothing was decided.'
        : tooLate(notice);
    case 'otherDeferral':
      return overWords;
    case 'otherArguments':
      return 'The arguments of the call have changed since this message. Nothing was decided.';
    case 'otherRuns':
      return 'What the call would run has changed since this message. Nothing was decided.';
  }
}

const pastOf = { approve: 'approved', reject: 'rejected' } as const;

const overWords = 'This approval has ended; the task waits for another one or for none.';

/**
 * Returns whether the rule must distinguish users by email, because it requires several approvals or excludes the
 * requester.
 */
export function needsEmail({ quorum, fourEyes }: ApprovalRequest): boolean {
  return fourEyes === true || quorum > 1;
}

function forbiddenWords(request: ApprovalRequest, { email }: SlackApprover): string {
  const { approvers, fourEyes } = request;
  const words = ['You are not allowed to decide this. It is still waiting.'];
  if (email === null && (approvers !== null || needsEmail(request))) {
    words.push('Slack did not provide your email address.');
  } else if (fourEyes) words.push('The requester may not decide.');
  if (approvers !== null) words.push('Only the approvers of this tool may decide.');
  return words.join(' ');
}
