/** A skill of the registry in short: an entry of `GET /api/skills`. */
export interface SkillSummaryJson {
  name: string;
  display_name: string;
  description: string;
  category: string;
  tags: string[];
  tools: string[];
  /** Tools that should wait for a person. */
  held: string[];
}

/** Answer of `GET /api/skills/{name}`. */
export interface SkillDetailJson extends SkillSummaryJson {
  /** What its tools could do at worst, in one sentence. */
  risk: string;
  /** The whole text of its `SKILL.md`, as somebody wrote it. */
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

/** Its answer: what adding the skill does; with `?preview=true` nothing is written, and `added` is false. */
export interface SkillPlanJson {
  name: string;
  added: boolean;
  /** Paths in the agent's folder. */
  files: string[];
  /** Hosts that its scripts may reach by it, and no other tool; none with `deny-all`. */
  scripts_reach: string[];
  egress_mode: 'allowlist' | 'deny-all' | 'dev-open';
  held_added: string[];
  /** Whom the rules ask. */
  asks: string[];
  defer_turned_on: boolean;
  env_missing: { name: string; kind: 'required' | 'one_of' | 'optional' }[];
  /** `service.yaml` as it is and as it becomes. */
  before: string;
  after: string;
}
