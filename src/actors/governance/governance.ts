// Governance: the policy of an agent with its guardrails, rewriting, intent alignment and credentials.

export {
  checkAlignment,
  createCachingEmbedder,
  createEmbedder,
  createIntentScorer,
  embedderAddress,
  type IntentScorer,
} from './alignment/alignment.ts';
export { callerReads } from './conditions/caller-reads.ts';
export { ConditionCompiler } from './conditions/condition.ts';
export { conditionWords } from './conditions/condition-words.ts';
export { comparedPaths } from './conditions/path-under.ts';
export { type CelType, typesOf } from './conditions/schema-types.ts';
export {
  type Credential,
  CredentialError,
  type CredentialIssuer,
  CredentialVault,
  checkCredentials,
  createCredentialIssuer,
  credentialAddresses,
  redactSecrets,
} from './credentials/credentials.ts';
export {
  compileGuardrails,
  type GuardrailRules,
  type Guardrails,
  linearPattern,
  mergeGuardrails,
  readSkillRules,
} from './guardrails/guardrails.ts';
export { compileModify, type Modify } from './modify/modify.ts';
export { argsDigest, canonicalDigest } from './policy/args-digest.ts';
export { keyPlaceholder, pathsOfKey } from './policy/bound-keys.ts';
export { createGovern, type GovernPorts } from './policy/govern.ts';
export { listsArguments, namesArgument } from './policy/named-arguments.ts';
export { createGovernInForce, Policies, type PolicyVersion } from './policy/policies.ts';
export { createPolicy, type Policy } from './policy/policy.ts';
export { noFacts } from './policy/rule-lists.ts';
export { ruleTerms } from './policy/rule-terms.ts';
export { ruleToday } from './policy/rule-today.ts';
export { definitionDigest, runsDigest } from './policy/runs-digest.ts';
export { screenPrompt } from './policy/screen-prompt.ts';
export { hiding } from './policy/shown-arguments.ts';
export { stillRuled, wouldRuleAgain } from './policy/still-ruled.ts';
export { createToolViews, type ToolViews } from './policy/tool-views.ts';
export { withIncluded } from './policy/with-included.ts';
export { holdRule, target } from './settings/schema-defer.ts';
export {
  type EffectRule,
  holdOfBound,
  type LimitRule,
  targetOfRepeats,
} from './settings/schema-limits.ts';
export { securitySchema } from './settings/schema-security.ts';
