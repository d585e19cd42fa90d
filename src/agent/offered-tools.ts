import type { ServiceConfig } from '../actors/config/config.ts';
import type { Tool } from '../actors/ports/tool.ts';
import { normalName } from '../actors/tool-name.ts';

/** Returns the tools that an agent advertises: all tools except those that a guardrail always denies. */
export function offeredTools(
  { security: { guardrails } }: Pick<ServiceConfig, 'security'>,
  tools: ReadonlyMap<string, Tool>,
): Tool[] {
  const always = guardrails.denied_tools.filter(
    ({ when, shadow }) => when === undefined && !shadow,
  );
  const denied = new Set((guardrails.enabled ? always : []).map(({ tool }) => normalName(tool)));
  return [...tools.values()].filter(({ name }) => !denied.has(normalName(name)));
}
