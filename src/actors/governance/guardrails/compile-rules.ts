import { type GuardrailPattern, readGuardrailPattern } from './guardrail-pattern.ts';
import { isRedactionName, redactionNames } from './redaction-rules.ts';
import type { DeniedTool, GuardrailRules, RuleBlock, RuleProblem } from './rules.ts';
import { suggestName } from './suggest-name.ts';

/** A compiled rule. */
export interface CompiledRule {
  /** Its name in findings. */
  rule: string;
  pattern: GuardrailPattern;
  /** Text shown for a denial: the message or the pattern. */
  shown: string;
}

/** The rules of all sources, by gate. */
export interface CompiledRules {
  commands: CompiledRule[];
  prompts: CompiledRule[];
  blocks: CompiledRule[];
  redactions: CompiledRule[];
  tools: { rule: string; name: string }[];
  redact: { source: string; name: string }[];
}

/** Compiles every pattern and name of the rules; problem paths are relative to the given rules. */
export function compileRules(rules: GuardrailRules): CompiledRules & { problems: RuleProblem[] } {
  const all: CompiledRules & { problems: RuleProblem[] } = {
    commands: [],
    prompts: [],
    blocks: [],
    redactions: [],
    tools: [],
    redact: [],
    problems: [],
  };
  addBlock(all, rules, '', []);
  for (const [index, skill] of (rules.skills ?? []).entries()) {
    const path = ['skills', index];
    if (skill.rules) addBlock(all, skill.rules, `skill ${skill.id} `, path);
    else
      all.problems.push({
        path,
        message: `the guardrails of skill ${skill.id} are broken; fix them`,
      });
  }
  return all;
}

/** Returns the problems in the patterns and names of one block. */
export function problemsOf(block: RuleBlock): RuleProblem[] {
  return compileRules(block).problems;
}

function addBlock(
  all: ReturnType<typeof compileRules>,
  block: RuleBlock,
  source: string,
  path: RuleProblem['path'],
): void {
  const add = (
    to: CompiledRule[],
    list: 'deny_commands' | 'deny_prompts' | 'deny_output',
    index: number,
    { pattern: written, message }: { pattern: string; message?: string | undefined },
  ) => {
    const pattern = readGuardrailPattern(written);
    if ('problem' in pattern) {
      all.problems.push({ path: [...path, list, index, 'pattern'], message: pattern.problem });
      return;
    }
    to.push({ rule: `${source}${list}[${index}]`, pattern, shown: message || written });
  };
  block.deny_commands.forEach((rule, index) => add(all.commands, 'deny_commands', index, rule));
  block.deny_prompts.forEach((rule, index) => add(all.prompts, 'deny_prompts', index, rule));
  block.deny_output.forEach((rule, index) =>
    add(rule.action === 'redact' ? all.redactions : all.blocks, 'deny_output', index, rule),
  );
  // The policy evaluates conditions; here are the tools that are always denied.
  block.denied_tools.forEach((denied, index) => {
    const { tool: name, when, shadow } = typeof denied === 'string' ? alwaysDenied(denied) : denied;
    if (when !== undefined || shadow) return;
    all.tools.push({ rule: `${source}denied_tools[${index}]`, name });
  });
  block.redact.forEach((name, index) => {
    if (isRedactionName(name)) all.redact.push({ source, name });
    else {
      const message = `there is no redaction rule of this name; ${suggestName(name, redactionNames)}`;
      all.problems.push({ path: [...path, 'redact', index], message });
    }
  });
}

function alwaysDenied(tool: string): DeniedTool {
  return { tool, shadow: false };
}
