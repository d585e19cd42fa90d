import type { TaskFact } from '../../../machines/domain/facts.ts';

/** Decisions in the words of AARM 1.0 that Holdpoint makes (docs/standards.md). */
export type AarmDecision = 'ALLOW' | 'DENY' | 'MODIFY' | 'STEP_UP';

const rulings = {
  allow: 'ALLOW',
  deny: 'DENY',
  modify: 'MODIFY',
  defer: 'STEP_UP',
  // The task ends with a challenge and the call never runs; the step-up of AARM pauses it.
  step_up: 'DENY',
} as const satisfies Record<string, AarmDecision>;

const matches = { deny: 'DENY', block: 'DENY', redact: 'MODIFY' } as const;

const scores = { allow: 'ALLOW', warn: 'ALLOW', deny: 'DENY' } as const;

/** Returns the decision of a fact in the words of AARM; `undefined` for a fact that decides nothing. */
export function aarmDecision(fact: TaskFact): AarmDecision | undefined {
  switch (fact.type) {
    case 'call.ruled':
      return rulings[fact.decision];
    case 'rule.matched':
      return matches[fact.decision];
    case 'intent.judged':
      return scores[fact.decision];
    case 'deferral.decided':
      if (fact.decision === 'reject') return 'DENY';
      return fact.editedArgsSha256 === undefined ? 'ALLOW' : 'MODIFY';
    case 'deferral.timedOut':
      return 'DENY';
    default:
      return undefined;
  }
}
