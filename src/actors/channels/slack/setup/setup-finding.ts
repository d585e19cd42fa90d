import type { WebClient } from '@slack/web-api';
import type { ChannelDirectory } from '../link/channel-directory.ts';

/** A finding about the Slack setup, worded for the operator. */
export interface SetupFinding {
  severity: 'error' | 'warning' | 'ok';
  /** The checked item, such as `#refunds` or `users:read`. */
  subject: string;
  message: string;
  /** The remedy. */
  fix?: string;
}

/** The setup to check. */
export interface SlackSetup {
  web: Pick<WebClient, 'auth' | 'conversations' | 'usergroups' | 'users'>;
  /** Channel names or ids, in the notation of targets. */
  targets: readonly string[];
  approvers: readonly string[];
  /** Ids of the user groups whose members may approve. */
  groups: readonly string[];
  /** True if users' messages become tasks. */
  conversations: boolean;
  directory: Pick<ChannelDirectory, 'resolve'>;
  /** Client with the app-level token; the token is checked if the client is given. */
  app?: Pick<WebClient, 'apps'>;
}
