import type { SkillFinding } from '../../actors/tools/tools.ts';
import type { CheckConfig } from '../../actors/workspace/workspace.ts';
import type { WrittenSkill } from '../../machines/skill-builder/written-skill.ts';
import type { CustomSkill } from './custom-skill.ts';

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

export interface SavePorts {
  check: CheckConfig;
  /**
   * Writes hold rules for those tools that have no rule, and returns a handle that rolls them back. Rejects with a
   * ConfigFileError.
   */
  hold: (tools: readonly string[]) => Promise<HeldTools>;
  /** Folder of the agent's `.env`; `null` if the agent reads none. */
  environment: string | null;
  /** Returns the agent's current variables. */
  variables: () => Promise<Readonly<Record<string, string | undefined>>>;
  /** Current time in epoch milliseconds. */
  now: number;
}

/** Tools that now have a rule that holds their calls. */
export interface HeldTools {
  added: string[];
  rollBack: () => Promise<void>;
}

/** A variable that a skill requires and the agent lacks. */
export interface MissingVariable {
  name: string;
  kind: 'required' | 'one_of' | 'optional';
}

/** Outcome of a save; nothing was written unless it is `saved`. */
export type SaveOutcome =
  | {
      kind: 'saved';
      name: string;
      path: string;
      egress_added: string[];
      held_added: string[];
      env_configured: string[];
      env_missing: MissingVariable[];
    }
  | { kind: 'invalid'; findings: Remark[] }
  /**
   * `exists`: another skill has the name. `changed`: the skill was saved by another client since it was read; `now` is
   * `null` if it is gone.
   */
  | { kind: 'exists' | 'changed'; name: string; now: CustomSkill | null };

/**
 * A validator finding, an error that would keep the agent from loading the skill, or a tool whose hold the new text
 * dropped.
 */
export type Remark = Omit<SkillFinding, 'rule'> & {
  rule: SkillFinding['rule'] | 'agent_reads' | 'held_kept';
};
