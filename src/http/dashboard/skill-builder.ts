import type {
  BuilderSettingsJson,
  BuilderStatusJson,
  CustomSkillContentJson,
  CustomSkillJson,
  SkillCheckJson,
  SkillDraftJson,
  SkillSaveResultJson,
} from '../wire/dashboard/builder-json.ts';

/** The agent that a skill is for. */
export interface BuilderAgent {
  id: string;
  /** Absolute path of its folder. */
  directory: string;
  /** The names of its tools. */
  tools: readonly string[];
}

/** Hears a turn of the model that writes skills. */
export interface BuilderEar {
  onToken(text: string): void;
  onMessage(content: string): void;
  onDraft(draft: SkillDraftJson): void;
  /** The last of them; `error` is a sentence. */
  onEnd(error: string | null): void;
}

/** One turn of a conversation, ready to be taken. Resolves when it has ended, and never rejects. */
export type BuilderTurn = (ear: BuilderEar, signal: AbortSignal) => Promise<void>;

/** What is asked of the builder, as it came. */
export interface BuilderQuestion {
  messages: readonly { role: 'user' | 'assistant'; content: string }[];
  /** The skill that is edited; `null` for a new one. */
  editing: string | null;
}

/** What is to be saved, as it came. */
export interface SaveOrder {
  draft: SkillDraftJson;
  skillName: string | null;
  env: Readonly<Record<string, string>>;
  overwrite: boolean;
  editing: string | null;
  /** What `If-Match` names; `null` for nothing. */
  etag: string | null;
  /** True has the tools wait for a person that the skill says should. */
  hold: boolean;
}

/** What became of it; nothing was written unless it is `saved`. */
export type SaveAnswer =
  | { kind: 'saved'; result: SkillSaveResultJson }
  | { kind: 'invalid'; check: SkillCheckJson }
  | { kind: 'exists' | 'changed'; name: string; now: CustomSkillContentJson | null };

/** What is asked cannot be done; the message says why, and nothing was written. */
export class BuilderError extends Error {
  readonly code: 'refused' | 'missing' | 'unusable';

  constructor(code: BuilderError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What writes skills with a person (docs/contract/dashboard.md). All reject with a BuilderError. */
export interface SkillBuilder {
  settings(): Promise<BuilderSettingsJson>;
  /** `request` is whatever was sent. */
  saveSettings(request: object): Promise<BuilderSettingsJson>;
  /** `null` for the workspace alone. */
  status(agent: BuilderAgent | null): Promise<BuilderStatusJson>;
  prompt(agent: BuilderAgent): Promise<string>;
  /** Prepares a turn. */
  converse(agent: BuilderAgent, question: BuilderQuestion): Promise<BuilderTurn>;
  skills(agent: BuilderAgent): Promise<CustomSkillJson[]>;
  skill(agent: BuilderAgent, name: string): Promise<CustomSkillContentJson>;
  check(
    agent: BuilderAgent,
    draft: SkillDraftJson,
    editing: string | null,
  ): Promise<SkillCheckJson>;
  save(agent: BuilderAgent, order: SaveOrder): Promise<SaveAnswer>;
}
