import { Command } from 'commander';
import type { Session } from '../session.ts';
import type { UpgradeOptions } from './upgrade.ts';

export function upgradeCommand(session: Session): Command {
  return new Command('upgrade')
    .description('move an agent to this release: check it, back it up and restart it')
    .option('--dir <dir>', "the agent's folder", '.')
    .option('--check', 'only check and change nothing')
    .action(async (options: UpgradeOptions) => {
      const { upgrade } = await import('./upgrade.ts');
      await upgrade(session, options);
    });
}

export function rollbackCommand(session: Session): Command {
  return new Command('rollback')
    .description('move an agent back to this release after an upgrade to a later one')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (options: { dir: string }) => {
      const { rollback } = await import('./rollback.ts');
      await rollback(session, options);
    });
}
