import { isKebabName } from '../../machines/kebab-case.ts';

/**
 * A skill on disk cannot be read or written: its name or a link is refused, it is not there, or it holds what cannot be shown.
 * The message says which, and nothing was written.
 */
export class SkillFileError extends Error {
  readonly code: 'refused' | 'missing' | 'unusable';

  constructor(code: SkillFileError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Checks the name of a skill. Throws a SkillFileError. */
export function checkSkillName(name: string): void {
  if (isKebabName(name)) return;
  const message =
    'the name of a skill is lower-case words joined by hyphens, at most 64 characters';
  throw new SkillFileError('refused', message);
}
