import type { WebClient } from '@slack/web-api';
import type { ChannelDirectory } from '../link/channel-directory.ts';

/** Something about the set-up of Slack, in words for whoever runs the agent. */
export interface SetupFinding {
  severity: 'error' | 'warning' | 'ok';
  /** What was looked at, such as `#refunds` or `users:read`. */
  subject: string;
  message: string;
  /** How to mend it. */
  fix?: string;
}

/** What is looked at. */
export interface SlackSetup {
  web: Pick<WebClient, 'auth' | 'conversations' | 'users'>;
  /** Names or ids of channels, as targets write them. */
  targets: readonly string[];
  /** The emails of those who may decide. */
  approvers: readonly string[];
  /** True when what people say becomes tasks. */
  conversations: boolean;
  directory: Pick<ChannelDirectory, 'resolve'>;
  /** Speaks with the app-level token, which is tried as well when it is given. */
  app?: Pick<WebClient, 'apps'>;
}
