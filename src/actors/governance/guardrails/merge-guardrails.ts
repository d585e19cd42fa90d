import type { JsonValue } from '../../../machines/json.ts';
import { problemsOf } from './compile-rules.ts';
import type { GuardrailRules, RuleBlock, RuleProblem } from './rules.ts';
import { readSkillBlock } from './skill-block.ts';

/**
 * Adds a skill's guardrails from `metadata.service.guardrails` to rules, whose own entries stay unchanged. Problem
 * paths are relative to the skill's value; rules that include an invalid skill do not compile.
 */
export function mergeGuardrails(
  base: GuardrailRules,
  skill: { id: string; value: JsonValue },
): { rules: GuardrailRules; problems: RuleProblem[] } {
  const { block, problems } = readSkillRules(skill.value);
  const skills = [...(base.skills ?? []), { id: skill.id, rules: block }];
  return { rules: { ...base, skills }, problems };
}

/** Reads a skill's guardrails; `block` is `null` if their form is invalid. Problem paths are relative to the value. */
export function readSkillRules(value: JsonValue): {
  block: RuleBlock | null;
  problems: RuleProblem[];
} {
  const read = readSkillBlock(value);
  return 'block' in read
    ? { block: read.block, problems: problemsOf(read.block) }
    : { block: null, problems: read };
}
