import type { ApprovalRequest } from '../../../../machines/channels/approval-notice.ts';
import { oneLine } from '../../../../machines/legible.ts';
import { cut } from './escape.ts';

/** Most people that are listed by name, and how long each name may be. */
const listed = { most: 20, longest: 100 };

/** Returns the approvers and the number required, each on a line of its own. */
export function whoMayDecide(request: ApprovalRequest): string[] {
  const { approvers, quorum, fourEyes, approvals } = request;
  const lines = [
    `May decide: ${approvers === null ? 'anyone in this channel' : namesOf(approvers)}`,
  ];
  if (fourEyes) lines.push('Four eyes: whoever asked may not decide.');
  if (quorum > 1) {
    lines.push(`Approvals: ${approvals.length} of ${quorum}, one rejection rejects`);
    if (approvals.length > 0) lines.push(`Approved so far by: ${approversOf(request)}`);
  }
  return lines;
}

/** Names the people who approved a call that needs several approvals; on one line. */
export function approversOf({ approvals }: ApprovalRequest): string {
  return namesOf(approvals.map(({ approver }) => approver));
}

/** Lists names on one line, the first twenty of them; `nobody` when there are none. */
function namesOf(names: readonly string[]): string {
  if (names.length === 0) return 'nobody';
  const shown = names.slice(0, listed.most).map((name) => cut(oneLine(name), listed.longest));
  const rest = names.length - shown.length;
  return [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
}
