import * as z from 'zod';
import type { JsonValue } from '../../../machines/json.ts';
import { problemsOf } from './compile-rules.ts';
import type { GuardrailRules, RuleBlock, RuleProblem } from './rules.ts';
import { suggestName } from './suggest-name.ts';

const text = z.string({ error: 'this must be text; put it in quotes' });
const name = text.refine((written) => written.trim() !== '', {
  error: 'this must not be empty; write a name',
});

const denyRule = z.strictObject(
  { pattern: text, message: text.optional() },
  { error: 'this must be {pattern, message}' },
);

const outputRule = z.strictObject(
  {
    pattern: text,
    action: z.enum(['block', 'redact'], { error: 'this must be one of block, redact' }),
  },
  { error: 'this must be {pattern, action}' },
);

const blockSchema = z.strictObject(
  {
    deny_commands: listOf(denyRule),
    deny_prompts: listOf(denyRule),
    deny_output: listOf(outputRule),
    denied_tools: listOf(name),
    redact: listOf(name),
  },
  { error: 'this must be a map of deny_commands, deny_prompts, deny_output, denied_tools, redact' },
);

function listOf<Item extends z.ZodType>(item: Item) {
  return z
    .array(item, { error: 'this must be a list, such as [a, b]' })
    .nullish()
    .transform((list) => list ?? []);
}

/** Parses a skill's guardrails; an unknown key is a problem, since it would protect nothing. */
export function readSkillBlock(value: JsonValue): { block: RuleBlock } | RuleProblem[] {
  const read = blockSchema.safeParse(value ?? {});
  if (read.success) return { block: read.data };
  return read.error.issues.flatMap((issue) => {
    const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
    return issue.keys.map((key) => unknownKey([...path, key], key));
  });
}

function unknownKey(path: RuleProblem['path'], key: string): RuleProblem {
  const [list] = path;
  if (list === 'deny_responses') {
    const message =
      'deny_responses is not there: what a model answers is not matched; use deny_output for the results of tools, and remove the key if that is enough';
    return { path, message };
  }
  const rule = list === 'deny_output' ? outputRule : denyRule;
  const known = Object.keys(path.length === 1 ? blockSchema.shape : rule.shape);
  return { path, message: `unknown key; ${suggestName(key, known)}` };
}

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
