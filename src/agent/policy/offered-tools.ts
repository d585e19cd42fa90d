import type { ServiceConfig } from '../../actors/config/config.ts';
import type { Tool } from '../../actors/ports/tool.ts';
import { normalName } from '../../actors/tool-name.ts';

/** Returns the tools that an agent advertises: all tools except those that a guardrail always denies. */
export function offeredTools(
  { security, included = [] }: Pick<ServiceConfig, 'security' | 'included'>,
  tools: ReadonlyMap<string, Tool>,
): Tool[] {
  const rules = [security, ...included.map((one) => one.security)]
    .filter(({ guardrails }) => guardrails.enabled)
    .flatMap(({ guardrails }) => guardrails.denied_tools);
  const always = rules.filter(({ when, shadow }) => when === undefined && !shadow);
  const denied = new Set(always.map(({ tool }) => normalName(tool)));
  return [...tools.values()].filter(({ name }) => !denied.has(normalName(name)));
}
