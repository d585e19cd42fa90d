import type { TaskFact } from '../domain/facts.ts';
import type { Finding } from '../domain/finding.ts';

/** Reports the rules that matched. */
export function factsOfFindings(tool: string | null, findings: readonly Finding[]): TaskFact[] {
  return findings.map(({ gate, decision, rule }) => ({
    type: 'rule.matched',
    gate,
    decision,
    tool,
    rule,
  }));
}
