import {
  compileGuardrails,
  type GuardrailRules,
  type Guardrails,
} from '../../../../src/actors/governance/guardrails/guardrails.ts';

/** Rules with everything empty that is not given. */
export function someRules(rules: Partial<GuardrailRules> = {}): GuardrailRules {
  return {
    deny_commands: [],
    deny_prompts: [],
    deny_output: [],
    denied_tools: [],
    redact: [],
    ...rules,
  };
}

/** Compiles rules that must stand. */
export function guardrailsOf(rules: Partial<GuardrailRules>): Guardrails {
  const compiled = compileGuardrails(someRules(rules));
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.guardrails;
}
