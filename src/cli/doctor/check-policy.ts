import { gapWords, policyGapIn } from '../../actors/workspace/workspace.ts';
import type { Findings } from '../../agent/start/agent-findings.ts';
import type { Finding, Subject } from './check.ts';

/** Checks that the running agent's policy matches its files; returns no finding if the agent is not running. */
export function checkPolicy(
  { directory }: Subject,
  { policySha256 }: Pick<Findings, 'policySha256'>,
): [check: string, finding: Finding][] {
  const gap = policyGapIn(directory, policySha256);
  if (gap === null) return [];
  return [['policy', { status: 'warn', ...gapWords(gap, directory) }]];
}
