import type { PolicyPreviewJson } from './explain-json.ts';

/** The rules of `service.yaml` for one tool, as far as they can be edited in place. */
export interface ToolRulesJson {
  tool: string;
  /** True if `security.guardrails.denied_tools` names the tool, with or without a condition. */
  deny: boolean;
  /** The tool's entry in `security.defer.tools`; `null` for none. */
  defer: { to: string[]; timeout: string; quorum: number; approvers: string[] } | null;
  /** `acr` of the tool's entry in `security.step_up.tools`; empty for none. */
  acr: string;
  /** The tool's entry in `security.modify.tools` as YAML; empty for none. */
  modify: string;
  /** Layers in which the tool has a list of rules, of which only the conditions can be edited in place. */
  listed: ('step_up' | 'modify' | 'defer')[];
  conditions: RuleConditionJson[];
}

/** A rule of a tool with its condition. */
export interface RuleConditionJson {
  /** Name of the rule in decisions and in the log, such as `defer.tools.pay[1]`. */
  rule: string;
  /** The condition in CEL; empty for a rule that always applies. */
  when: string;
  /** The other terms of the rule as YAML. */
  terms: string;
}

/** The names that conditions can use: `GET /api/agents/{id}/policy/conditions`. */
export interface ConditionWordsJson {
  /** Members have dots, such as `caller.user_id`; a function ends with `(`. */
  words: ConditionWordJson[];
  /** The arguments of each tool by its schema, as `args.NAME`; empty for a tool whose schema is unknown. */
  args: Record<string, ConditionWordJson[]>;
}

export interface ConditionWordJson {
  word: string;
  type: string;
  about: string;
}

/** Response of `POST /api/agents/{id}/policy/conditions` to `{tool, when}`. */
export interface ConditionCheckJson {
  /** The first fault of the expression with its position, from 0; `null` if there is none. */
  fault: { message: string; at: number } | null;
}

/** The rows of `policy.test.yaml`: `POST /api/agents/{id}/policy/tests`. */
export interface PolicyTestsJson {
  rows: { name: string; place: string; differences: string[] }[];
  /** The reason why the table was not evaluated; `null` if it was. */
  problem: string | null;
}

/** Response of `GET /api/agents/{id}/policy/rules`. */
export interface PolicyRulesJson {
  /** ETag of the `service.yaml` that was read. */
  etag: string;
  content: string;
  rules: ToolRulesJson[];
}

/** Response of `POST /api/agents/{id}/policy/preview` to `{etag, rules}`. Nothing has been written. */
export interface PolicyEditJson extends PolicyPreviewJson {
  /** The text of `service.yaml` before and after a save. */
  before: string;
  content: string;
  etag: string;
  /** The result of `policy.test.yaml` under the changed rules; `null` if the agent has no such file. */
  tests: PolicyTestsJson | null;
}
