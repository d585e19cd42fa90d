import type { Skill } from './skill.ts';

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
    .map(
      (name) => `skill ${skill.id} needs the program ${name}, which is not installed; install it`,
    );
  const variables = required
    .filter((name) => !isSet(name))
    .map((name) => `skill ${skill.id} needs the environment variable ${name}; set it`);
  const choice =
    oneOf.length > 0 && !oneOf.some(isSet)
      ? [`skill ${skill.id} needs one of the environment variables ${oneOf.join(', ')}; set one`]
      : [];
  return [...programs, ...variables, ...choice];
}
