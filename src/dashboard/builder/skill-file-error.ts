import { isKebabName } from '../../machines/kebab-case.ts';

/**
 * A skill on disk cannot be read or written: its name is invalid, it is or contains a link, it does not exist, or its
 * content cannot be displayed. The message names the reason; nothing was written.
 */
export class SkillFileError extends Error {
  readonly code: 'refused' | 'missing' | 'unusable';

  constructor(code: SkillFileError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Validates the name of a skill. Throws a SkillFileError. */
export function checkSkillName(name: string): void {
  if (isKebabName(name)) return;
  const message =
    'the name of a skill is lower-case words joined by hyphens, at most 64 characters';
  throw new SkillFileError('refused', message);
}
