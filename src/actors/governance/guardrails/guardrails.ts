export { compileGuardrails, type Guardrails } from './compile-guardrails.ts';
export { type LinearPattern, linearPattern } from './linear-pattern.ts';
export { mergeGuardrails, readSkillRules } from './merge-guardrails.ts';
export { promptTexts } from './prompt-texts.ts';
export { isRedactionName, redactionNames, redactionRules } from './redaction-rules.ts';
export type { DeniedTool, GuardrailRules } from './rules.ts';
