/** A skill as written by a model or stored in a folder. */
export interface WrittenSkill {
  skill_md: string;
  /** File contents by file name. */
  scripts: Readonly<Record<string, string>>;
}

/** Maximum length of an answer in characters; the rest is ignored. */
export const longestAnswer = 1024 * 1024;

/** Maximum number of scripts per skill. */
export const mostScripts = 32;

const scriptName = /^(?!\.)[A-Za-z0-9._-]{1,64}$/;

/**
 * Returns true if a string is a valid script name: a file in the script folder, never a path
 * (docs/contract/dashboard.md).
 */
export function isScriptName(name: string): boolean {
  return scriptName.test(name);
}

/** Returns the reason why scripts cannot be stored, as one sentence; `null` if they can. */
export function scriptsProblem(scripts: Readonly<Record<string, string>>): string | null {
  const names = Object.keys(scripts);
  if (names.length > mostScripts) {
    return `a skill has at most ${mostScripts} scripts; write fewer`;
  }
  return names.every(isScriptName)
    ? null
    : 'the name of a script is up to 64 letters, digits, dots, hyphens and underscores and does not begin with a dot, such as look-up.sh; rename it';
}
