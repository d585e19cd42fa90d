import { optionWords } from '../domain/rule-options.ts';
import { oneLine } from '../legible.ts';
import { cutToRunes } from '../text.ts';
import type { ApprovalRequest } from './approval-notice.ts';

/** Maximum number of listed names, and characters of each. */
const listed = { most: 20, longest: 100 };

/**
 * Returns the approvers and the required number of approvals, each on its own line.
 *
 * @param anyone the approvers of a call without an allowlist
 */
export function whoMayDecide(
  request: ApprovalRequest,
  anyone = 'anyone in this channel',
): string[] {
  const { approvers, quorum, approvals } = request;
  const lines = [
    `Who can decide: ${approvers === null ? anyone : namesOf(approvers)}`,
    ...optionWords(request),
  ];
  if (quorum > 1) {
    lines.push(`Approvals: ${approvals.length} of ${quorum}, one rejection rejects`);
    if (approvals.length > 0) lines.push(`Approved so far by: ${approversOf(request)}`);
  }
  return lines;
}

/** Lists on one line the approvers so far of a call that needs several approvals. */
export function approversOf({ approvals }: ApprovalRequest): string {
  return namesOf(approvals.map(({ approver }) => approver));
}

/** Lists names on one line, the first twenty of them; `nobody` for an empty list. */
function namesOf(names: readonly string[]): string {
  if (names.length === 0) return 'nobody';
  const shown = names.slice(0, listed.most).map((name) => shortened(oneLine(name)));
  const rest = names.length - shown.length;
  return [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
}

function shortened(name: string): string {
  const kept = cutToRunes(name, listed.longest);
  return kept === name ? name : `${kept}…`;
}
