import type { TaskFact } from '../task/facts.ts';
import type { Finding } from './finding.ts';

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
