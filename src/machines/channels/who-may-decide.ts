import type { RequiredReason } from '../domain/task.ts';
import { oneLine } from '../legible.ts';
import { cutToRunes } from '../text.ts';
import { type ApprovalRequest, passkeyWords } from './approval-notice.ts';

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
  const { approvers, quorum, fourEyes, requireReason, approvals } = request;
  const lines = [`Who can decide: ${approvers === null ? anyone : namesOf(approvers)}`];
  if (fourEyes) lines.push('Four eyes: the requester may not decide.');
  if (requireReason !== undefined) lines.push(reasonWords[requireReason]);
  lines.push(...passkeyWords(request));
  if (quorum > 1) {
    lines.push(`Approvals: ${approvals.length} of ${quorum}, one rejection rejects`);
    if (approvals.length > 0) lines.push(`Approved so far by: ${approversOf(request)}`);
  }
  return lines;
}

const reasonWords = {
  approve: 'An approval needs a reason.',
  reject: 'A rejection needs a reason.',
  both: 'A decision needs a reason.',
} as const satisfies Record<RequiredReason, string>;

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
