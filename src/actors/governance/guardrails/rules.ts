/** A pattern whose match denies, and the text shown for the denial. */
export interface DenyRule {
  /** RE2 syntax; may match anywhere in the text. */
  pattern: string;
  /** Shown in the denial instead of the pattern. */
  message?: string | undefined;
}

/** A pattern for answers or results, and its effect. */
export interface OutputRule {
  pattern: string;
  action: 'block' | 'redact';
}

/** A tool whose calls are denied, always or under a condition. */
export interface DeniedTool {
  tool: string;
  /** CEL; absent if it is always denied. */
  when?: string | undefined;
  /** True if the rule only reports. */
  shadow: boolean;
  /** Shown in the denial. */
  message?: string | undefined;
}

/** The rules of one source: the configuration or a skill (docs/contract/governance.md). */
export interface RuleBlock {
  deny_commands: readonly DenyRule[];
  deny_prompts: readonly DenyRule[];
  deny_output: readonly OutputRule[];
  /** Tool names; hyphens and underscores are equivalent. */
  denied_tools: readonly (string | DeniedTool)[];
  /** Names of built-in redaction rules or groups. */
  redact: readonly string[];
}

/** The rules of one skill, kept separate so that findings can name their skill. */
export interface SkillRules {
  id: string;
  /** `null` if the skill's block is invalid; such rules never compile. */
  rules: RuleBlock | null;
}

/** The rules of the configuration and those added by skills. */
export interface GuardrailRules extends RuleBlock {
  skills?: readonly SkillRules[];
}

export interface RuleProblem {
  /** Keys and indexes relative to the given rules. */
  path: (string | number)[];
  /** One sentence; it may name an element of the syntax and never repeats the pattern. */
  message: string;
}
