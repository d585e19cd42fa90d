import type { JsonValue } from '../../../machines/json.ts';
import { problemsOf } from './compile-rules.ts';
import type { GuardrailRules, RuleProblem } from './rules.ts';
import { readSkillBlock } from './skill-block.ts';

/**
 * Adds a skill's guardrails from `metadata.service.guardrails` to rules, whose own entries stay unchanged. Problem
 * paths are relative to the skill's value; rules that include an invalid skill do not compile.
 */
export function mergeGuardrails(
  base: GuardrailRules,
  skill: { id: string; value: JsonValue },
): { rules: GuardrailRules; problems: RuleProblem[] } {
  const read = readSkillBlock(skill.value);
  const block = 'block' in read ? read.block : null;
  const problems = 'block' in read ? problemsOf(read.block) : read;
  const skills = [...(base.skills ?? []), { id: skill.id, rules: block }];
  return { rules: { ...base, skills }, problems };
}
