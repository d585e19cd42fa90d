import { gapWords, policyGapIn } from '../actors/workspace/workspace.ts';
import type { Output } from './output.ts';
import { plainLine } from './plain-text.ts';

/** JSON fields that report a different policy of the running agent. */
export interface PolicyGapJson {
  policy_differs?: { started_at: string; changed_at: string };
}

/**
 * Warns if the agent running in a folder has a policy with a different digest. The digest is `null` for invalid files.
 * Returns the same information as JSON fields.
 */
export function warnOfPolicyGap(
  output: Output,
  directory: string,
  policySha256: string | null,
): PolicyGapJson {
  const gap = policySha256 === null ? null : policyGapIn(directory, policySha256);
  if (gap === null) return {};
  const { message, fix } = gapWords(gap, directory);
  output.warn(plainLine(`${message}; ${fix}`));
  return { policy_differs: { started_at: gap.startedAt, changed_at: gap.changedAt } };
}
