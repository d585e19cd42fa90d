import type { PolicyPreviewJson } from './explain-json.ts';

/** What `service.yaml` says of the calls of one tool, as far as it can be edited in place. */
export interface ToolRulesJson {
  tool: string;
  /** Whether `security.guardrails.denied_tools` names it. */
  deny: boolean;
  /** Its entry in `security.defer.tools`; `null` for none. */
  defer: { to: string[]; timeout: string; quorum: number; approvers: string[] } | null;
  /** `acr` of its entry in `security.step_up.tools`; empty for none. */
  acr: string;
  /** Its entry in `security.modify.tools` as YAML; empty for none. */
  modify: string;
}

/** Answer of `GET /api/agents/{id}/policy/rules`. */
export interface PolicyRulesJson {
  /** Of the `service.yaml` that was read. */
  etag: string;
  content: string;
  rules: ToolRulesJson[];
}

/** Answer of `POST /api/agents/{id}/policy/preview` to `{etag, rules}`; nothing was written. */
export interface PolicyEditJson extends PolicyPreviewJson {
  /** The text of `service.yaml` as it is, and as a save would make it. */
  before: string;
  content: string;
  etag: string;
}
