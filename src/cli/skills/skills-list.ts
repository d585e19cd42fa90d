import { commandLine } from '../../actors/command-line.ts';
import { registrySkills } from '../../agent/skills/skill-registry.ts';
import { asSkillSummary } from '../../agent/skills/skill-words.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';

export interface SkillsListOptions {
  category?: string;
}

/** `skills list`: lists the registry's skills by category. Rejects with CliError for an empty category. */
export async function skillsList(
  { output }: Session,
  { category }: SkillsListOptions,
): Promise<void> {
  const all = (await registrySkills()).map(asSkillSummary);
  const skills = all.filter((skill) => category === undefined || skill.category === category);
  const categories = [...new Set(all.map((skill) => skill.category))].toSorted();
  if (skills.length === 0) {
    throw new CliError(plainLine(`there is no skill of the category ${category}`), {
      code: 'not_found',
      exitCode: exitCodes.notFound,
      hint: `there are ${categories.join(', ')}`,
    });
  }
  output.json({ skills });
  const width = Math.max(...skills.map(({ name }) => name.length));
  for (const group of categories) {
    const members = skills.filter((skill) => skill.category === group);
    if (members.length === 0) continue;
    output.line(output.colours.bold(group));
    for (const { name, description, held } of members) {
      const note = held.length === 0 ? '' : output.colours.yellow(` held: ${held.join(', ')}`);
      output.line(`  ${name.padEnd(width)}  ${description}${note}`);
    }
  }
  output.note(`add one with \`${commandLine('skills add NAME')}\``);
}
