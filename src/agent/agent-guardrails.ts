import type { ServiceConfig } from '../actors/config/config.ts';
import {
  compileGuardrails,
  type GuardrailRules,
  type Guardrails,
  mergeGuardrails,
} from '../actors/governance/governance.ts';
import type { Skill, SkillProblem } from '../actors/tools/tools.ts';

const noRules: GuardrailRules = {
  deny_commands: [],
  deny_prompts: [],
  deny_output: [],
  denied_tools: [],
  redact: [],
};

/** The guardrails of an agent, with what is wrong in those of its skills. */
export interface GuardrailsReading {
  /** `null` when there are none, or when some are malformed. */
  guardrails: Guardrails | null;
  problems: SkillProblem[];
}

/**
 * Assembles the guardrails of the configuration, as compiled when it was checked, and of the skills
 * (docs/contract/governance.md). Switching them off in the configuration switches off its own alone: a skill's rules
 * hold as long as it is there.
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
  const problems: SkillProblem[] = [];
  for (const { id, file, written } of writing) {
    const merged = mergeGuardrails(rules, { id, value: written.value });
    rules = merged.rules;
    for (const { path, message } of merged.problems) {
      problems.push({ message, file, ...written.locate(path) });
    }
  }
  if (problems.length > 0) return { guardrails: null, problems };
  const together = compileGuardrails(rules);
  if (together.ok) return { guardrails: together.guardrails, problems: [] };
  // Each of them stands by itself, so nobody is to blame alone.
  const broken = writing.flatMap(({ file, written }) =>
    together.problems.map(({ message }) => ({ message, file, ...written.locate([]) })),
  );
  return { guardrails: null, problems: broken };
}
