/** A pattern whose match denies, and what the denied side is told. */
export interface DenyRule {
  /** RE2 syntax, found anywhere in the text. */
  pattern: string;
  /** Stands in the denial for the pattern. */
  message?: string | undefined;
}

/** A pattern in an answer or a result, and what becomes of it. */
export interface OutputRule {
  pattern: string;
  action: 'block' | 'redact';
}

/** The rules of one source: the configuration or a skill (docs/contract/governance.md). */
export interface RuleBlock {
  deny_commands: readonly DenyRule[];
  deny_prompts: readonly DenyRule[];
  deny_output: readonly OutputRule[];
  /** Names of tools; hyphens and underscores are taken as the same. */
  denied_tools: readonly string[];
  /** Names of built-in redaction rules or of groups of them. */
  redact: readonly string[];
}

/** The rules of one skill, kept apart so that each can be named with the skill it came from. */
export interface SkillRules {
  id: string;
  /** `null` when the skill's block could not be read: such rules never compile. */
  rules: RuleBlock | null;
}

/** The rules of the configuration and what skills add to them. */
export interface GuardrailRules extends RuleBlock {
  skills?: readonly SkillRules[];
}

/** A problem in a rule. */
export interface RuleProblem {
  /** Keys and indexes from the rules that were given. */
  path: (string | number)[];
  /** One sentence; it may name a piece of the syntax and never repeats the pattern. */
  message: string;
}
