import type {
  CustomSkillContentJson,
  SkillCheckJson,
} from '../../http/wire/dashboard/builder-json.ts';
import { isKebabName } from '../../machines/kebab-case.ts';

/**
 * A skill on disk cannot be read or written: its name is invalid, it is or contains a link, it does not exist, or its
 * content cannot be displayed. The message names the reason; nothing was written.
 */
export class SkillFileError extends Error {
  readonly code: 'skill_refused' | 'skill_missing' | 'skill_unusable';

  constructor(code: SkillFileError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A skill has errors; nothing was saved. */
export class SkillInvalidError extends Error {
  readonly code = 'skill_invalid';
  readonly check: SkillCheckJson;

  constructor(check: SkillCheckJson) {
    super('the skill has errors; nothing was saved');
    this.check = check;
  }
}

/**
 * A save would overwrite another skill of the name (`skill_taken`) or a newer version of the edited one
 * (`skill_changed`); nothing was saved.
 */
export class SkillConflictError extends Error {
  readonly code: 'skill_taken' | 'skill_changed';
  /** The requested skill name. */
  readonly skill: string;
  /** The current skill; `null` if it no longer exists. */
  readonly now: CustomSkillContentJson | null;

  constructor(code: SkillConflictError['code'], skill: string, now: CustomSkillContentJson | null) {
    super(
      code === 'skill_changed'
        ? 'the skill has changed since it was read; review the current version'
        : 'the agent has a skill of this name; edit that one, or choose another name',
    );
    this.code = code;
    this.skill = skill;
    this.now = now;
  }
}

/** Validates the name of a skill. Throws a SkillFileError. */
export function checkSkillName(name: string): void {
  if (isKebabName(name)) return;
  const message =
    'the name of a skill is lower-case words joined by hyphens, at most 64 characters';
  throw new SkillFileError('skill_refused', message);
}
