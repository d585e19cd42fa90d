import type { IntentScorer } from '../../src/actors/governance/alignment/alignment.ts';
import { Policies } from '../../src/actors/governance/policy/policies.ts';
import type { Policy } from '../../src/actors/governance/policy/policy.ts';

/** A policy that stays in force. */
export function onePolicy(
  policy: Policy,
  scorer: IntentScorer | null = null,
  mostWaiting = 1_000_000,
): Policies {
  return new Policies({ sha256: '0'.repeat(64), policy, scorer, mostWaiting });
}
