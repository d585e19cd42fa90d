/** Where the model that writes skills is named (docs/contract/dashboard.md). */
export type BuilderSourceJson = 'workspace' | 'user' | 'agent_fallback' | 'unset';

/** Answer of `GET /api/skill-builder/provider` and of `GET /api/agents/{id}/skill-builder/provider`. */
export interface BuilderStatusJson {
  provider: string | null;
  model: string | null;
  source: BuilderSourceJson;
  /** The key is there, or the provider is asked without one. Its value is told nowhere. */
  has_key: boolean;
  /** Why nobody can be asked, in a sentence; `null` when somebody can. */
  problem: string | null;
  /** What is said of a source that will go; `null` for others. */
  deprecation_warning: string | null;
}

/** Answer of `GET` and `PUT /api/settings/skill-builder`. */
export interface BuilderSettingsJson extends BuilderStatusJson {
  base_url: string | null;
  api_key_env: string | null;
  /** Where `PUT` writes. */
  path: string;
  providers: BuilderProviderJson[];
}

/** A provider that can be named. */
export interface BuilderProviderJson {
  name: string;
  /** The variable that holds its key when no other is named; `null` for none. */
  default_api_key_env: string | null;
  needs_base_url: boolean;
}

/** Body of `PUT /api/settings/skill-builder`; an empty or absent key leaves the one that is there. */
export interface BuilderSettingsRequestJson {
  provider: string;
  model: string;
  base_url?: string;
  api_key_env?: string;
  api_key?: string;
}

/** Answer of `GET /api/agents/{id}/skill-builder/context`. */
export interface BuilderContextJson {
  system_prompt: string;
}

/** Body of `POST /api/agents/{id}/skill-builder/chat`. */
export interface BuilderChatRequestJson {
  messages: { role: 'user' | 'assistant'; content: string }[];
  mode?: 'create' | 'edit';
  editing_name?: string;
}

/** Events of the answer to it, with their data, in their order (docs/contract/dashboard.md). */
export interface BuilderChatEvents {
  token: { text: string };
  message: { content: string };
  skill_draft: SkillDraftJson;
  done: Record<string, never>;
  error: { error: string };
}

/** An element of `GET /api/agents/{id}/skill-builder/skills`. */
export interface CustomSkillJson {
  /** By which it is read; a file `SKILL.md` in the folder of the agent itself is not read here. */
  name: string;
  description: string;
  category: string | null;
  tags: string[];
  path: string;
  has_scripts: boolean;
  tools: string[];
}

/** Answer of `GET /api/agents/{id}/skill-builder/skills/{name}`. */
export interface CustomSkillContentJson extends SkillDraftJson {
  format: 'subdir' | 'flat';
  /** What `If-Match` names when it is saved. */
  etag: string;
}

/** Body of `POST /api/agents/{id}/skill-builder/validate`. */
export interface ValidateSkillRequestJson extends SkillDraftJson {
  mode?: 'create' | 'edit';
  editing_name?: string;
}

/** Answer to it, and with 400 of a save that wrote nothing. */
export interface SkillCheckJson {
  valid: boolean;
  errors: SkillFindingJson[];
  warnings: SkillFindingJson[];
  /** The rules that a save writes; absent for none, and where nothing can be saved. */
  holds?: SkillHoldsJson;
}

/** Rules by which tools of a skill wait for a person, as the skill says they should. */
export interface SkillHoldsJson {
  /** The tools that have none yet. */
  tools: string[];
  /** Whom the rules ask. */
  asks: string[];
  /** True when holding calls is turned on for them. */
  defer_turned_on: boolean;
  /** `service.yaml` before and after; both empty with a problem. */
  before: string;
  after: string;
  /** Why they cannot be written; `null` when they can. */
  problem: string | null;
}

/** Something wrong with a skill. */
export interface SkillFindingJson {
  rule: string;
  message: string;
  /** The script it is in; `null` for the `SKILL.md`. */
  file: string | null;
  line: number | null;
  column: number | null;
}

/** Body of `POST /api/agents/{id}/skill-builder/save`. */
export interface SaveSkillRequestJson extends SkillDraftJson {
  /** That of the frontmatter; with `overwrite` that of the skill that is edited. */
  skill_name?: string;
  /** Values for the `.env` of the agent. */
  env?: Record<string, string>;
  overwrite?: boolean;
  editing_name?: string;
  /** False writes no rules that hold tools; true when absent. */
  hold?: boolean;
}

/** Answer to it (docs/contract/dashboard.md, SkillSaveResult). */
export interface SkillSaveResultJson {
  name: string;
  path: string;
  egress_added: string[];
  /** The tools for which a rule was written. */
  held_added: string[];
  env_configured: string[];
  env_missing: { name: string; kind: 'required' | 'one_of' | 'optional' }[];
}

/** Answer, with 409, to a save under the name of another skill, and with 412 to one over what somebody else has saved. */
export interface SkillChangedJson {
  error: string;
  /** The name under which it would have been saved. */
  name: string;
  /** What is there; `null` when it is gone. */
  skill: CustomSkillContentJson | null;
}

/** A skill as it is written: the text of its `SKILL.md` and of its scripts by the names of their files. */
export interface SkillDraftJson {
  skill_md: string;
  scripts: Record<string, string>;
}
