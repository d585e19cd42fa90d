import type { Log, Outbound } from '../../../ports.ts';
import type { SlackSettings } from '../../channel-settings.ts';
import type { ChannelDirectory } from '../link/channel-directory.ts';
import { createSlackClient } from '../link/slack-client.ts';
import { checkSlackSetup } from './check-setup.ts';

export interface SetupParts {
  settings: SlackSettings;
  /** The targets of approvals, as `to` names them, and everybody on an allowlist. */
  targets: string[];
  approvers: string[];
  outbound: Pick<Outbound, 'fetch'>;
  /** The channels of the workspace, as the adapter finds them, so that they are listed once. */
  directory: ChannelDirectory;
  log: Log;
}

/** Logs the parts of the set-up that are missing in Slack; never rejects (docs/contract/chat.md). */
export async function reportSetup({
  settings,
  targets,
  approvers,
  outbound,
  directory,
  log,
}: SetupParts): Promise<void> {
  const { botToken: token, apiUrl, conversations } = settings;
  const web = createSlackClient({ token, apiUrl, fetch: outbound.fetch, log });
  const findings = await checkSlackSetup({ web, targets, approvers, conversations, directory });
  for (const { severity, subject, message, fix } of findings) {
    if (severity === 'ok') continue;
    log.warn({ subject, ...(fix === undefined ? {} : { fix }) }, `slack: ${message}`);
  }
}
