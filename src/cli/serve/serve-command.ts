import { Command } from 'commander';
import { addDaemonFlags, type DaemonFlags } from '../daemon-flags.ts';
import { countValue } from '../option-values.ts';
import type { Session } from '../session.ts';
import type { ServeLogsOptions } from './serve-logs.ts';

/** Defines the commands for a background agent (docs/contract/serve.md). */
export function serveCommand(session: Session): Command {
  const serve = new Command('serve').description('run an agent in the background');
  serve.addCommand(startCommand(session));
  inFolder(serve, 'stop', 'stop the agent: it has 30 s to drain').action(
    async ({ dir }: { dir: string }) => {
      const { serveStop } = await import('./serve-stop.ts');
      await serveStop(session, dir);
    },
  );
  inFolder(serve, 'status', 'show whether the agent is running; exit 3 if it is not').action(
    async ({ dir }: { dir: string }) => {
      const { serveStatus } = await import('./serve-status.ts');
      await serveStatus(session, dir);
    },
  );
  inFolder(serve, 'logs', 'show the log of the background agent')
    .option('-n, --lines <count>', 'how many lines', countValue, 200)
    .option('-f, --follow', 'follow new lines, across restarts')
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
    'start the agent in the background and return once it is ready',
  );
  return addDaemonFlags(command).action(async (options: DaemonFlags) => {
    const { serveStart } = await import('./serve-start.ts');
    await serveStart(session, options);
  });
}
