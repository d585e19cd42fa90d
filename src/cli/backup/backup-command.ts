import { Command } from 'commander';
import { countValue } from '../option-values.ts';
import type { Session } from '../session.ts';
import type { BackupOptions } from './backup.ts';
import type { RestoreOptions } from './restore.ts';

export function backupCommand(session: Session): Command {
  return new Command('backup')
    .description('write the tasks, the log and the files of an agent to one file, while it runs')
    .argument('<path>', 'a new file, or a folder, in which the file is named after agent and time')
    .option('--dir <dir>', "the agent's folder", '.')
    .option(
      '--keep <count>',
      'delete older backups of this agent in the folder beyond a number',
      countValue,
    )
    .action(async (path: string, options: BackupOptions) => {
      const { backup } = await import('./backup.ts');
      await backup(session, path, options);
    });
}

export function restoreCommand(session: Session): Command {
  return new Command('restore')
    .description('restore a stopped agent from a backup: into a new folder, or its store alone')
    .argument('<file>', 'a file that backup wrote')
    .option('--dir <dir>', 'a new folder for the agent, or the folder that has it', '.')
    .option('--replace', 'replace the store in the folder, and keep it next to the new one')
    .option('--check', 'only check that the file is intact')
    .option(
      '--keys <file>',
      'public keys to check the signature with: a JWKS file or its address (default: those in the folder)',
    )
    .option(
      '--accept-unverified',
      'accept a backup without a signature that the keys can check; it may be forged',
    )
    .action(async (file: string, options: RestoreOptions) => {
      const { restore } = await import('./restore.ts');
      await restore(session, file, options);
    });
}
