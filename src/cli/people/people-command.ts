import { Command } from 'commander';
import { momentValue } from '../option-values.ts';
import type { Session } from '../session.ts';

/** Defines `people`. */
export function peopleCommand(session: Session): Command {
  return new Command('people')
    .description('show the groups, who is on call and until when, and who is away')
    .option(
      '--at <time>',
      'another moment, such as 2026-12-24T09:00:00Z or a duration such as 3d',
      momentValue,
    )
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (options: { dir: string; at?: number }) => {
      const { people } = await import('./people.ts');
      await people(session, options);
    });
}
