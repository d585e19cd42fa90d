import { ToolMap } from '../../actors/tool-name.ts';
import type { AgentReading } from '../../agent/read-agent.ts';
import { isJsonObject, type JsonValue } from '../../machines/json.ts';

/** Lists the rules that check a tool's output, in order; empty if there are none (docs/contract/governance.md). */
export function outputRules(
  { config, toolbox }: Pick<NonNullable<AgentReading['agent']>, 'config' | 'toolbox'>,
  tool: string,
): string[] {
  const { guardrails, modify } = config.security;
  const { deny_output: denied, redact } = guardrails;
  const skills = toolbox.skills.filter(({ guardrails: written }) => hasRules(written?.value));
  const written = new ToolMap(Object.entries(modify.enabled ? modify.tools : {}));
  const rewrites = written
    .all(tool)
    .flatMap(
      (entries) => entries.find(({ when, shadow }) => when === undefined && !shadow)?.output ?? [],
    );
  return [
    ...(guardrails.enabled && denied.length + redact.length > 0 ? ['guardrails'] : []),
    ...skills.map(({ id }) => `guardrails of skill ${id}`),
    ...(rewrites.length > 0 ? ['modify'] : []),
  ];
}

/** Returns true if a skill's validated rules cover output. */
function hasRules(guardrails: JsonValue | undefined): boolean {
  if (guardrails === undefined || !isJsonObject(guardrails)) return false;
  const { deny_output: denied, redact } = guardrails;
  return [denied, redact].some((rules) => Array.isArray(rules) && rules.length > 0);
}
