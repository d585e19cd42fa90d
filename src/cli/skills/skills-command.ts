import { Command } from 'commander';
import type { Session } from '../session.ts';
import type { SkillsAddOptions } from './skills-add.ts';
import type { SkillsListOptions } from './skills-list.ts';

export function skillsCommand(session: Session): Command {
  const skills = new Command('skills').description(
    'look at the skills that Holdpoint brings along, add them to an agent, and check your own',
  );
  skills
    .command('list')
    .description('list the skills that Holdpoint brings along')
    .option('--category <category>', 'only those of this kind')
    .action(async (options: SkillsListOptions) => {
      const { skillsList } = await import('./skills-list.ts');
      await skillsList(session, options);
    });
  skills
    .command('show')
    .description('show what a skill does, reaches, needs and holds, and its text')
    .argument('<skill>', 'the name of the skill')
    .action(async (name: string) => {
      const { skillsShow } = await import('./skills-show.ts');
      await skillsShow(session, name);
    });
  skills
    .command('add')
    .description('add a skill to an agent, with its hosts and the rules that hold its tools')
    .argument('<skill>', 'the name of the skill')
    .option('--dir <dir>', "the agent's folder", '.')
    .option('--preview', 'say what it would do, and write nothing')
    .option('--yes', 'ask nothing')
    .action(async (name: string, options: SkillsAddOptions) => {
      const { skillsAdd } = await import('./skills-add.ts');
      await skillsAdd(session, name, options);
    });
  skills
    .command('validate')
    .description('check a skill of your own, and say where every finding stands')
    .argument('<file>', 'its folder, or its file')
    .action(async (path: string) => {
      const { skillsValidate } = await import('./skills-validate.ts');
      await skillsValidate(session, path);
    });
  return skills;
}
