import { Command } from 'commander';
import { portValue } from '../option-values.ts';
import type { Session } from '../session.ts';
import type { SlackManifestOptions } from './print-manifest.ts';

export function slackCommand(session: Session): Command {
  const slack = new Command('slack').description('approvals and conversations in Slack');
  slack
    .command('manifest')
    .description('print the manifest of the Slack app')
    .option('--name <name>', 'name of the app', 'Holdpoint')
    .option('--approvals-only', 'omit what conversations need')
    .action(async (options: SlackManifestOptions) => {
      const { printManifest } = await import('./print-manifest.ts');
      printManifest(session, options);
    });
  slack
    .command('fake')
    .description('run a Slack on this machine to try approvals with; Ctrl-C stops it')
    .option('--port <port>', 'port to listen on (default: any that is free)', portValue)
    .action(async (options: { port?: number }) => {
      const { loadFakeSlack } = await import('./fake-slack.ts');
      const { runFake } = await loadFakeSlack();
      await runFake(session, options);
    });
  return slack;
}
