import type { PolicyPreviewJson } from './explain-json.ts';

/** The rules of `service.yaml` for one tool, as far as they can be edited in place. */
export interface ToolRulesJson {
  tool: string;
  /** True if `security.guardrails.denied_tools` names the tool. */
  deny: boolean;
  /** The tool's entry in `security.defer.tools`; `null` for none. */
  defer: { to: string[]; timeout: string; quorum: number; approvers: string[] } | null;
  /** `acr` of the tool's entry in `security.step_up.tools`; empty for none. */
  acr: string;
  /** The tool's entry in `security.modify.tools` as YAML; empty for none. */
  modify: string;
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
}
