/** Summary of a registry skill: an entry of `GET /api/skills`. */
export interface SkillSummaryJson {
  name: string;
  display_name: string;
  description: string;
  category: string;
  tags: string[];
  tools: string[];
  /** Tools that the skill recommends to hold. */
  held: string[];
}

/** Response of `GET /api/skills/{name}`. */
export interface SkillDetailJson extends SkillSummaryJson {
  /** Worst-case effect of its tools, as one sentence. */
  risk: string;
  /** The full text of its `SKILL.md`, unmodified. */
  skill_md: string;
  /** File names of its scripts. */
  scripts: string[];
  egress_domains: string[];
  requires: { bins: string[]; required: string[]; one_of: string[]; optional: string[] };
  /** SHA-256 of all its files. */
  digest: string;
}

/** Body of `POST /api/agents/{id}/skills`. */
export interface AddSkillRequestJson {
  name: string;
}

/**
 * Response of the request above: the effect of adding the skill. With `?preview=true` nothing is written and `added` is
 * false.
 */
export interface SkillPlanJson {
  name: string;
  added: boolean;
  /** Paths relative to the agent's folder. */
  files: string[];
  /** Hosts that only the skill's scripts can reach through the skill; none with `deny-all`. */
  scripts_reach: string[];
  egress_mode: 'allowlist' | 'deny-all' | 'dev-open';
  held_added: string[];
  /** The approvers of the rules. */
  asks: string[];
  defer_turned_on: boolean;
  env_missing: { name: string; kind: 'required' | 'one_of' | 'optional' }[];
  /** `service.yaml` before and after. */
  before: string;
  after: string;
}
