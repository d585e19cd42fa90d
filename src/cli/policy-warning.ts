import { gapWords, policyGapIn } from '../actors/workspace/workspace.ts';
import type { Output } from './output.ts';
import { plainLine } from './plain-text.ts';

/** The fields of an answer in JSON that say that the running agent has another policy. */
export interface PolicyGapJson {
  policy_differs?: { started_at: string; changed_at: string };
}

/**
 * Warns when the agent that runs in a folder has other rules than those with this digest, which is `null` for files that
 * cannot be used. Returns the same for programs.
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
