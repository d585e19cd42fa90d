import {
  gapJson,
  gapWords,
  type PolicyGapJson,
  policyGapIn,
} from '../actors/workspace/workspace.ts';
import type { Output } from './output.ts';
import { plainLine } from './plain-text.ts';

/**
 * Warns if the agent running in a folder has a policy with a different digest. The digest is `null` for invalid files.
 * Returns the same information as JSON fields.
 */
export function warnOfPolicyGap(
  output: Output,
  directory: string,
  policySha256: string | null,
): { policy_differs?: PolicyGapJson } {
  const gap = policyGapIn(directory, policySha256);
  if (gap === null) return {};
  const { message, fix } = gapWords(gap, directory);
  output.warn(plainLine(`${message}; ${fix}`));
  return { policy_differs: gapJson(gap) };
}
