import type { Outbound } from '../../../ports/egress.ts';
import type { Log } from '../../../ports/log.ts';
import type { SlackSettings } from '../../channel-settings.ts';
import type { ChannelDirectory } from '../link/channel-directory.ts';
import { createSlackClient } from '../link/slack-client.ts';
import { checkSlackSetup } from './check-setup.ts';

export interface SetupParts {
  settings: SlackSettings;
  /** The approval targets named by `to`, and all listed approvers. */
  targets: string[];
  approvers: string[];
  /** Ids of the user groups whose members may approve. */
  groups: readonly string[];
  outbound: Pick<Outbound, 'fetch'>;
  /** The adapter's own channel directory, so that channels are listed only once. */
  directory: ChannelDirectory;
  log: Log;
}

/** Logs missing parts of the Slack setup; never rejects (docs/contract/chat.md). */
export async function reportSetup({
  settings,
  targets,
  approvers,
  groups,
  outbound,
  directory,
  log,
}: SetupParts): Promise<void> {
  const { botToken: token, apiUrl, conversations } = settings;
  const web = createSlackClient({ token, apiUrl, fetch: outbound.fetch, log });
  const setup = { web, targets, approvers, groups, conversations, directory };
  const findings = await checkSlackSetup(setup);
  for (const { severity, subject, message, fix } of findings) {
    if (severity === 'ok') continue;
    log.warn({ subject, ...(fix === undefined ? {} : { fix }) }, `slack: ${message}`);
  }
}
