import type { WebClient } from '@slack/web-api';
import type { ChannelDirectory } from '../link/channel-directory.ts';

/** A finding about the set-up of Slack, worded for the operator. */
export interface SetupFinding {
  severity: 'error' | 'warning' | 'ok';
  /** The checked thing, such as `#refunds` or `users:read`. */
  subject: string;
  message: string;
  /** The remedy. */
  fix?: string;
}

/** The set-up to check. */
export interface SlackSetup {
  web: Pick<WebClient, 'auth' | 'conversations' | 'users'>;
  /** Names or ids of channels, as targets write them. */
  targets: readonly string[];
  /** The emails of the approvers. */
  approvers: readonly string[];
  /** True when messages of people become tasks. */
  conversations: boolean;
  directory: Pick<ChannelDirectory, 'resolve'>;
  /** Speaks with the app-level token, which is tried as well when it is given. */
  app?: Pick<WebClient, 'apps'>;
}
