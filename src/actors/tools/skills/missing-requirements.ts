import type { Skill } from './skill.ts';

/** Part of each sentence about a program that this machine lacks. */
const notInstalled = 'which is not installed';

/** Returns whether a problem of an agent is a program that this machine lacks. */
export function isMissingProgram(message: string): boolean {
  return message.includes(notInstalled);
}

/** Returns in sentences the requirements of a skill (`metadata.service.requires`) that the machine does not meet. */
export function missingRequirements(
  skill: Skill,
  env: Readonly<Record<string, string | undefined>>,
  findProgram: (name: string) => string | null,
): string[] {
  const isSet = (name: string) => (env[name] ?? '') !== '';
  const { required, oneOf } = skill.requires.env;
  const programs = skill.requires.bins
    .filter((name) => findProgram(name) === null)
    .map((name) => `skill ${skill.id} needs the program ${name}, ${notInstalled}; install it`);
  const variables = required
    .filter((name) => !isSet(name))
    .map((name) => `skill ${skill.id} needs the environment variable ${name}; set it`);
  const choice =
    oneOf.length > 0 && !oneOf.some(isSet)
      ? [`skill ${skill.id} needs one of the environment variables ${oneOf.join(', ')}; set one`]
      : [];
  return [...programs, ...variables, ...choice];
}
