import { closest } from 'fastest-levenshtein';
import { commandLine } from '../../actors/command-line.ts';
import type { RegistrySkill } from '../../actors/tools/tools.ts';
import { registrySkills } from '../../agent/skills/skill-registry.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';

/** Finds a registry skill. Rejects with CliError and exit code 3 if there is none. */
export async function knownSkill(name: string): Promise<RegistrySkill> {
  const skills = await registrySkills();
  const found = skills.find(({ skill }) => skill.id === name);
  if (found !== undefined) return found;
  const nearest = closest(
    name,
    skills.map(({ skill }) => skill.id),
  );
  throw new CliError(plainLine(`there is no skill ${name}; the nearest is ${nearest}`), {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint: `see them all with \`${commandLine('skills list')}\``,
  });
}
