/** The source of the setting for the model that writes skills (docs/contract/dashboard.md). */
export type BuilderSourceJson = 'workspace' | 'user' | 'agent_fallback' | 'unset';

/** Response of `GET /api/skill-builder/provider` and of `GET /api/agents/{id}/skill-builder/provider`. */
export interface BuilderStatusJson {
  provider: string | null;
  model: string | null;
  source: BuilderSourceJson;
  /** True if the key is set or the provider needs none. The key's value is never returned. */
  has_key: boolean;
  /** The reason why no model is usable, as one sentence; `null` if a model is usable. */
  problem: string | null;
  /** Warning about a deprecated source; `null` for other sources. */
  deprecation_warning: string | null;
}

/** Response of `GET` and `PUT /api/settings/skill-builder`. */
export interface BuilderSettingsJson extends BuilderStatusJson {
  base_url: string | null;
  api_key_env: string | null;
  /** The file that `PUT` writes. */
  path: string;
  providers: BuilderProviderJson[];
}

/** A selectable provider. */
export interface BuilderProviderJson {
  name: string;
  /** The default variable of its API key; `null` for none. */
  default_api_key_env: string | null;
  needs_base_url: boolean;
}

/** Body of `PUT /api/settings/skill-builder`. An empty or absent key keeps the current one. */
export interface BuilderSettingsRequestJson {
  provider: string;
  model: string;
  base_url?: string;
  api_key_env?: string;
  api_key?: string;
}

/** Response of `GET /api/agents/{id}/skill-builder/context`. */
export interface BuilderContextJson {
  system_prompt: string;
}

/** Body of `POST /api/agents/{id}/skill-builder/chat`. */
export interface BuilderChatRequestJson {
  messages: { role: 'user' | 'assistant'; content: string }[];
  mode?: 'create' | 'edit';
  editing_name?: string;
}

/** Events of the chat response with their data, in order (docs/contract/dashboard.md). */
export interface BuilderChatEvents {
  token: { text: string };
  message: { content: string };
  skill_draft: SkillDraftJson;
  done: Record<string, never>;
  error: { error: string };
}

/** An element of `GET /api/agents/{id}/skill-builder/skills`. */
export interface CustomSkillJson {
  /** Identifies the skill in requests. A file `SKILL.md` in the agent's own folder is not served here. */
  name: string;
  description: string;
  category: string | null;
  tags: string[];
  path: string;
  has_scripts: boolean;
  tools: string[];
}

/** Response of `GET /api/agents/{id}/skill-builder/skills/{name}`. */
export interface CustomSkillContentJson extends SkillDraftJson {
  format: 'subdir' | 'flat';
  /** The `If-Match` value for a save. */
  etag: string;
}

/** Body of `POST /api/agents/{id}/skill-builder/validate`. */
export interface ValidateSkillRequestJson extends SkillDraftJson {
  mode?: 'create' | 'edit';
  editing_name?: string;
}

/** Response of the validation, and with 400 of a save that wrote nothing. */
export interface SkillCheckJson {
  valid: boolean;
  errors: SkillFindingJson[];
  warnings: SkillFindingJson[];
  /** The rules that a save writes; absent if there are none or nothing can be saved. */
  holds?: SkillHoldsJson;
}

/** Rules that hold a skill's tools as the skill recommends. */
export interface SkillHoldsJson {
  /** Tools without a rule so far. */
  tools: string[];
  /** The approvers of the rules. */
  asks: string[];
  /** True if `security.defer.enabled` is switched on for these rules. */
  defer_turned_on: boolean;
  /** `service.yaml` before and after; both are empty if there is a problem. */
  before: string;
  after: string;
  /** The reason why the rules cannot be written; `null` if they can. */
  problem: string | null;
}

/** A problem of a skill. */
export interface SkillFindingJson {
  rule: string;
  message: string;
  /** The script with the problem; `null` for the `SKILL.md`. */
  file: string | null;
  line: number | null;
  column: number | null;
}

/** Body of `POST /api/agents/{id}/skill-builder/save`. */
export interface SaveSkillRequestJson extends SkillDraftJson {
  /** The name in the frontmatter; with `overwrite`, the name of the edited skill. */
  skill_name?: string;
  /** Values for the agent's `.env`. */
  env?: Record<string, string>;
  overwrite?: boolean;
  editing_name?: string;
  /** If false, writes no hold rules. Default: true. */
  hold?: boolean;
}

/** Response to a save (docs/contract/dashboard.md, SkillSaveResult). */
export interface SkillSaveResultJson {
  name: string;
  path: string;
  egress_added: string[];
  /** Tools for which a rule was written. */
  held_added: string[];
  env_configured: string[];
  env_missing: { name: string; kind: 'required' | 'one_of' | 'optional' }[];
}

/** Response with 409 to a save under the name of another skill, and with 412 to a save over a newer version. */
export interface SkillChangedJson {
  error: string;
  /** The requested skill name. */
  name: string;
  /** The current skill; `null` if it no longer exists. */
  skill: CustomSkillContentJson | null;
}

/** The text of a skill's `SKILL.md` and of its scripts by file name. */
export interface SkillDraftJson {
  skill_md: string;
  scripts: Record<string, string>;
}
