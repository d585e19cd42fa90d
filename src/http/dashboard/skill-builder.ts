import type {
  BuilderSettingsJson,
  BuilderStatusJson,
  CustomSkillContentJson,
  CustomSkillJson,
  SkillCheckJson,
  SkillDraftJson,
  SkillSaveResultJson,
} from '../wire/dashboard/builder-json.ts';

/** The agent for which a skill is written. */
export interface BuilderAgent {
  id: string;
  /** Absolute path of its folder. */
  directory: string;
  /** Names of the agent's tools. */
  tools: readonly string[];
}

/** Receives a turn of the model that writes skills. */
export interface BuilderEar {
  onToken(text: string): void;
  onMessage(content: string): void;
  onDraft(draft: SkillDraftJson): void;
  /** The last callback; `error` is one sentence. */
  onEnd(error: string | null): void;
}

/** A prepared turn of a conversation. Resolves when the turn has ended; never rejects. */
export type BuilderTurn = (ear: BuilderEar, signal: AbortSignal) => Promise<void>;

/** An unvalidated request to the builder. */
export interface BuilderQuestion {
  messages: readonly { role: 'user' | 'assistant'; content: string }[];
  /** The skill being edited; `null` for a new one. */
  editing: string | null;
}

/** An unvalidated request to save a skill. */
export interface SaveOrder {
  draft: SkillDraftJson;
  skillName: string | null;
  env: Readonly<Record<string, string>>;
  overwrite: boolean;
  editing: string | null;
  /** The value of `If-Match`; `null` if absent. */
  etag: string | null;
  /** If true, holds the tools that the skill recommends to hold. */
  hold: boolean;
}

/** The result of a save. Nothing has been written unless it is `saved`. */
export type SaveAnswer =
  | { kind: 'saved'; result: SkillSaveResultJson }
  | { kind: 'invalid'; check: SkillCheckJson }
  | { kind: 'exists' | 'changed'; name: string; now: CustomSkillContentJson | null };

/** The request cannot be fulfilled; the message gives the reason. Nothing has been written. */
export class BuilderError extends Error {
  readonly code: 'refused' | 'missing' | 'unusable';

  constructor(code: BuilderError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Writes skills interactively with a user (docs/contract/dashboard.md). All methods reject with BuilderError. */
export interface SkillBuilder {
  settings(): Promise<BuilderSettingsJson>;
  /** `request` is the unvalidated request body. */
  saveSettings(request: object): Promise<BuilderSettingsJson>;
  /** Pass `null` for the workspace without an agent. */
  status(agent: BuilderAgent | null): Promise<BuilderStatusJson>;
  prompt(agent: BuilderAgent): Promise<string>;
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
