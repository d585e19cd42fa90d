import type { ServiceConfig } from '../../actors/config/config.ts';
import {
  compileGuardrails,
  type GuardrailRules,
  type Guardrails,
  mergeGuardrails,
} from '../../actors/governance/governance.ts';
import type { Skill, SkillProblem } from '../../actors/tools/tools.ts';

const noRules: GuardrailRules = {
  deny_commands: [],
  deny_prompts: [],
  deny_output: [],
  denied_tools: [],
  redact: [],
};

/** The guardrails of an agent, and the problems that its skills' guardrails have only together. */
export interface GuardrailsReading {
  /** `null` if there are none or some are malformed. */
  guardrails: Guardrails | null;
  problems: SkillProblem[];
}

/**
 * Combines the configuration's guardrails, compiled during validation, with the skills' guardrails
 * (docs/contract/governance.md). Turning guardrails off in the configuration disables only the configuration's own. A
 * skill's rules apply as long as the skill is installed.
 */
export function readGuardrails(
  configured: ServiceConfig['security']['guardrails'],
  compiled: Guardrails | null,
  skills: readonly Skill[],
): GuardrailsReading {
  const writing = skills.flatMap(({ id, file, guardrails: written }) =>
    written === undefined ? [] : [{ id, file, written }],
  );
  if (writing.length === 0) return { guardrails: compiled, problems: [] };
  let rules: GuardrailRules = configured.enabled ? configured : noRules;
  let isBroken = false;
  for (const { id, written } of writing) {
    const merged = mergeGuardrails(rules, { id, value: written.value });
    rules = merged.rules;
    isBroken ||= merged.problems.length > 0;
  }
  // The reading of the skill has reported it.
  if (isBroken) return { guardrails: null, problems: [] };
  const together = compileGuardrails(rules);
  if (together.ok) return { guardrails: together.guardrails, problems: [] };
  // Each file compiles on its own, so the error comes from the combination and no single file is at fault.
  const broken = writing.flatMap(({ file, written }) =>
    together.problems.map(({ message }) => ({ message, file, ...written.locate([]) })),
  );
  return { guardrails: null, problems: broken };
}
