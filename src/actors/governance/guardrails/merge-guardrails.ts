import type { JsonValue } from '../../../machines/json.ts';
import { problemsOf } from './compile-rules.ts';
import type { GuardrailRules, RuleProblem } from './rules.ts';
import { readSkillBlock } from './skill-block.ts';

/**
 * Adds the guardrails a skill wrote under `metadata.service.guardrails` to rules, whose own stay as
 * they are. Problems are placed from the skill's value; rules with a broken skill do not compile.
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
