export { compileGuardrails, type Guardrails } from './compile-guardrails.ts';
export { linearPattern } from './linear-pattern.ts';
export { mergeGuardrails } from './merge-guardrails.ts';
export { promptTexts } from './prompt-texts.ts';
export { isRedactionName, redactionNames, redactionRules } from './redaction-rules.ts';
export type { GuardrailRules } from './rules.ts';
