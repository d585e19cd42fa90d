import { effectiveApprovers } from '../../machines/governance/approvers.ts';
import type { DeferRule } from '../../machines/governance/defer-policy.ts';
import type { ToolRules } from '../../machines/governance/ruling.ts';
import type { ToolCall } from '../../machines/task/task.ts';
import type { ServiceConfig } from '../config/config.ts';
import type { Tool } from '../ports.ts';

/** What governance demands of a call, as configured. */
export interface Policy {
  rulesFor(call: ToolCall): ToolRules;
}

/** Reads the policy of an agent out of its configuration (document 1 section 2.4). */
export function createPolicy(
  security: ServiceConfig['security'],
  tools: ReadonlyMap<string, Tool>,
): Policy {
  const deferRules = deferRulesOf(security.defer);
  const stepUp = stepUpRulesOf(security.step_up);
  return {
    rulesFor: (call) => ({
      refusal: refusalOf(call, tools),
      ...stepUp(call.tool),
      defer: deferRules.get(call.tool) ?? null,
    }),
  };
}

function refusalOf(call: ToolCall, tools: ReadonlyMap<string, Tool>): string | null {
  const tool = tools.get(call.tool);
  if (tool === undefined) return `unknown tool: ${call.tool}`;
  return tool.check?.(call.args) ?? null;
}

function deferRulesOf(defer: ServiceConfig['security']['defer']): Map<string, DeferRule> {
  const rules = new Map<string, DeferRule>();
  if (!defer.enabled) return rules;
  for (const [tool, entry] of Object.entries(defer.tools)) {
    rules.set(tool, {
      to: entry.to,
      timeout: entry.timeout ?? defer.default_timeout,
      contextTemplate: entry.context_template ?? '',
      approvers: effectiveApprovers(entry.approvers ?? [], defer.default_approvers),
      quorum: entry.quorum,
      fourEyes: entry.four_eyes,
      bindApprover: defer.bind_approver,
    });
  }
  return rules;
}

function stepUpRulesOf(stepUp: ServiceConfig['security']['step_up']) {
  const required = new Map(stepUp.enabled ? Object.entries(stepUp.tools) : []);
  return (tool: string): Pick<ToolRules, 'requiredAcr' | 'acrHierarchy'> => ({
    requiredAcr: required.get(tool) ?? null,
    acrHierarchy: stepUp.acr_hierarchy,
  });
}
