import { Argument, Command } from 'commander';
import { addDaemonFlags } from '../daemon-flags.ts';
import type { Session } from '../session.ts';
import type { GuardOptions } from './guard.ts';
import type { InstallOptions } from './guard-install.ts';
import { hostSettings } from './host-settings.ts';

/** Defines `guard`, `guard install` and `guard uninstall`. */
export function guardCommand(session: Session): Command {
  const guard = addDaemonFlags(
    new Command('guard').description('run a gate that holds the calls of coding agents'),
    { dir: 'the folder of the gate (default: ~/.holdpoint/guard)' },
  )
    .option(
      '--root <dir>',
      'the project whose files may be read and written (default: this folder)',
    )
    .action(async (options: GuardOptions) => {
      const { guard: start } = await import('./guard.ts');
      await start(session, options);
    });
  guard.addCommand(
    withPlace(
      new Command('install').description('write the hooks of a coding agent into its settings'),
    )
      .option('--url <url>', 'the address of a gate, instead of --dir')
      .option('--http', 'without a program: the coding agent sends its events to an https --url')
      .action(async (dialect: string, _: unknown, command: Command) => {
        const { guardInstall } = await import('./guard-install.ts');
        await guardInstall(session, dialect, command.optsWithGlobals<InstallOptions>());
      }),
  );
  guard.addCommand(
    withPlace(
      new Command('uninstall').description('remove the hooks of Holdpoint from its settings'),
    ).action(async (dialect: string, _: unknown, command: Command) => {
      const { guardUninstall } = await import('./guard-install.ts');
      await guardUninstall(session, dialect, command.optsWithGlobals<InstallOptions>());
    }),
  );
  return guard;
}

function withPlace(command: Command): Command {
  return command
    .addArgument(new Argument('<dialect>', 'the coding agent').choices([...hostSettings.keys()]))
    .option('--dir <dir>', 'the folder of the gate (default: ~/.holdpoint/guard)')
    .option('--project [dir]', 'the settings of a project on this machine (default: this folder)')
    .option('--user', 'the settings of this user (default)')
    .option('--yes', 'ask nothing');
}
