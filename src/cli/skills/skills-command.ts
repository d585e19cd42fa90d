import { Command } from 'commander';
import type { Session } from '../session.ts';
import type { SkillsAddOptions } from './skills-add.ts';
import type { SkillsListOptions } from './skills-list.ts';

export function skillsCommand(session: Session): Command {
  const skills = new Command('skills').description(
    'list the built-in skills, add them to an agent, and check your own',
  );
  skills
    .command('list')
    .description('list the built-in skills')
    .option('--category <category>', 'only those of this kind')
    .action(async (options: SkillsListOptions) => {
      const { skillsList } = await import('./skills-list.ts');
      await skillsList(session, options);
    });
  skills
    .command('show')
    .description('show the tools, hosts, requirements, held tools and text of a skill')
    .argument('<skill>', 'the name of the skill')
    .action(async (name: string) => {
      const { skillsShow } = await import('./skills-show.ts');
      await skillsShow(session, name);
    });
  skills
    .command('add')
    .description('add a skill to an agent, with its hosts and the rules that hold its tools')
    .argument('<skill>', 'its name, its folder, or a zip or tar.gz archive, also at a URL')
    .option('--skill <name>', 'the skill to add, from a folder or archive with several')
    .option('--update', 'replace the copy of the agent')
    .option('--dir <dir>', "the agent's folder", '.')
    .option('--preview', 'show the changes without writing them')
    .option('--yes', 'ask nothing')
    .action(async (name: string, options: SkillsAddOptions) => {
      const { skillsAdd } = await import('./skills-add.ts');
      await skillsAdd(session, name, options);
    });
  skills
    .command('validate')
    .description('check a custom skill, and report each finding with its place')
    .argument('<file>', 'its folder, or its file')
    .action(async (path: string) => {
      const { skillsValidate } = await import('./skills-validate.ts');
      await skillsValidate(session, path);
    });
  return skills;
}
