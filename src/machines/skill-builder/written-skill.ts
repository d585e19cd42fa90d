/** A skill as a model has written it down, or as a folder holds it. */
export interface WrittenSkill {
  /** The text of its `SKILL.md`. */
  skill_md: string;
  /** Contents by the name of their file. */
  scripts: Readonly<Record<string, string>>;
}

/** Characters of one answer that are read. */
export const longestAnswer = 1024 * 1024;

/** Scripts that one skill may have. */
export const mostScripts = 32;

const scriptName = /^(?!\.)[A-Za-z0-9._-]{1,64}$/;

/**
 * Tells whether a text may name a script: a file of the folder of scripts, never a path (docs/contract/dashboard.md).
 */
export function isScriptName(name: string): boolean {
  return scriptName.test(name);
}

/** Says in a sentence why scripts may not be kept; `null` when they may. */
export function scriptsProblem(scripts: Readonly<Record<string, string>>): string | null {
  const names = Object.keys(scripts);
  if (names.length > mostScripts) {
    return `a skill has at most ${mostScripts} scripts; write fewer`;
  }
  return names.every(isScriptName)
    ? null
    : 'the name of a script is up to 64 letters, digits, dots, hyphens and underscores and does not begin with a dot, such as look-up.sh; rename it';
}
