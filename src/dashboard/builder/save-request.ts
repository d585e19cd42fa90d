import type { WrittenSkill } from '../../machines/skill-builder/written-skill.ts';

/** The content of a `save` request (docs/contract/dashboard.md). */
export interface SaveRequest extends WrittenSkill {
  /** The skill name of the frontmatter, unless the skill is renamed; `null` if it was not sent. */
  skillName: string | null;
  /** Values to write to the agent's `.env`. */
  env: Readonly<Record<string, string>>;
  overwrite: boolean;
  /** Name of the edited skill; `null` for a new one. */
  editing: string | null;
  /** ETag of the edited skill when it was read; `null` overwrites any version. */
  etag: string | null;
  /** True to add rules that hold the tools for which the skill asks approval. */
  hold: boolean;
}

/** An agent's folder, and how its variables are read. */
export interface SavePlace {
  directory: string;
  /** The environment of this process. */
  env: NodeJS.ProcessEnv;
  /** Returns the agent's current variables; the ones in its encrypted secrets count as set. */
  variables: () => Promise<NodeJS.ProcessEnv>;
}
