import type { WrittenSkill } from '../../machines/skill-builder/written-skill.ts';
import type { SkillFinding } from '../tools/tools.ts';
import type { CheckConfig } from '../workspace/workspace.ts';
import type { CustomSkill } from './custom-skill.ts';

/** What is to be saved (docs/contract/dashboard.md, `save`). */
export interface SaveRequest extends WrittenSkill {
  /** That of the frontmatter, but for a skill that is given another name; `null` when it was not sent. */
  skillName: string | null;
  /** Values for the `.env` of the agent. */
  env: Readonly<Record<string, string>>;
  overwrite: boolean;
  /** The skill that is edited; `null` for a new one. */
  editing: string | null;
  /** What the edited skill was when it was read; `null` to write over whatever is there. */
  etag: string | null;
  /** True has the tools wait for a person that the skill says should. */
  hold: boolean;
}

/** What the save of a skill needs of its agent. */
export interface SavePorts {
  check: CheckConfig;
  /** Writes rules that hold tools, those without one, and returns what rolls them back. Rejects with a ConfigFileError. */
  hold: (tools: readonly string[]) => Promise<HeldTools>;
  /** The folder of the `.env` that the agent reads; `null` when it reads none. */
  environment: string | null;
  /** The variables of the agent as they are now. */
  variables: () => Promise<Readonly<Record<string, string | undefined>>>;
  /** Epoch milliseconds. */
  now: number;
}

/** Tools that wait for a person from now on. */
export interface HeldTools {
  added: string[];
  rollBack: () => Promise<void>;
}

/** A variable that a skill asks for and the agent does not have. */
export interface MissingVariable {
  name: string;
  kind: 'required' | 'one_of' | 'optional';
}

/** What became of a save; nothing was written unless it is `saved`. */
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
  /** Another skill has the name; `changed`: somebody else has saved it since it was read. `null` when it is gone. */
  | { kind: 'exists' | 'changed'; name: string; now: CustomSkill | null };

/** A finding of the validator, what would keep the agent from reading the skill, or a tool that it no longer says should be held. */
export type Remark = Omit<SkillFinding, 'rule'> & {
  rule: SkillFinding['rule'] | 'agent_reads' | 'held_kept';
};
