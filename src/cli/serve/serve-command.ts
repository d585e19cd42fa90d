import { Command } from 'commander';
import { addDaemonFlags, type DaemonFlags } from '../daemon-flags.ts';
import { countValue } from '../option-values.ts';
import type { Session } from '../session.ts';
import type { ServeLogsOptions } from './serve-logs.ts';

/** Defines the commands for a background agent (docs/contract/serve.md). */
export function serveCommand(session: Session): Command {
  const serve = new Command('serve').description('run an agent in the background');
  serve.addCommand(startCommand(session));
  inFolder(serve, 'stop', 'stop the agent: it is given 30 s to end its work').action(
    async ({ dir }: { dir: string }) => {
      const { serveStop } = await import('./serve-stop.ts');
      await serveStop(session, dir);
    },
  );
  inFolder(serve, 'status', 'tell whether the agent runs; exit 3 when it does not').action(
    async ({ dir }: { dir: string }) => {
      const { serveStatus } = await import('./serve-status.ts');
      await serveStatus(session, dir);
    },
  );
  inFolder(serve, 'logs', 'show what the agent in the background has logged')
    .option('-n, --lines <count>', 'how many lines', countValue, 200)
    .option('-f, --follow', 'go on with each line that is written, also by the next start')
    .action(async (options: ServeLogsOptions) => {
      const { serveLogs } = await import('./serve-logs.ts');
      await serveLogs(session, options);
    });
  return serve;
}

function inFolder(serve: Command, name: string, description: string): Command {
  return serve
    .command(name)
    .description(description)
    .option('--dir <dir>', "the agent's folder", '.');
}

function startCommand(session: Session): Command {
  const command = new Command('start').description(
    'start the agent and return once it answers; it goes on when you log out',
  );
  return addDaemonFlags(command).action(async (options: DaemonFlags) => {
    const { serveStart } = await import('./serve-start.ts');
    await serveStart(session, options);
  });
}
