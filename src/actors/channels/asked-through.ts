import { splitTarget } from '../../machines/channels/approval-notice.ts';
import { effectiveApprovers } from '../../machines/governance/approvers.ts';
import {
  type EscalateTo,
  escalationTargets,
} from '../../machines/governance/escalation-targets.ts';

/** The part of the DEFER rules that names targets and approvers (docs/contract/governance.md). */
export interface DeferRules {
  default_approvers: readonly string[];
  tools: Readonly<Record<string, readonly (AskingRule | { allow: true })[]>>;
}

interface AskingRule {
  to: readonly string[];
  escalate_to?: EscalateTo | undefined;
  approvers: readonly string[];
}

/** Returns the distinct targets and approvers that the rules reach through an adapter. */
export function askedThrough(
  name: string,
  { tools, default_approvers: fallback }: DeferRules,
): { targets: string[]; approvers: string[] } {
  const asking = Object.values(tools)
    .flat()
    .filter((rule): rule is AskingRule => 'to' in rule);
  const rules = asking.flatMap((rule) =>
    [...rule.to, ...escalationTargets(rule.escalate_to)]
      .map(splitTarget)
      .filter(({ adapter }) => adapter === name)
      .map(({ target }) => ({ target, approvers: effectiveApprovers(rule.approvers, fallback) })),
  );
  return {
    targets: [...new Set(rules.map(({ target }) => target))],
    approvers: [...new Set(rules.flatMap(({ approvers }) => approvers ?? []))],
  };
}
