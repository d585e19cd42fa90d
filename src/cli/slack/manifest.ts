import type { AppsManifestCreateArguments } from '@slack/web-api';

/** An app manifest, which Slack takes as JSON or YAML. */
export type SlackManifest = Exclude<AppsManifestCreateArguments['manifest'], string>;

type BotScopes = NonNullable<
  NonNullable<NonNullable<SlackManifest['oauth_config']>['scopes']>['bot']
>;

/** Longest name of an app, in characters. */
export const longestName = 35;

/** Longest name of its bot, in characters. */
const longestBotName = 80;

/** The purpose of an app. */
export interface ManifestOptions {
  name: string;
  /** True for an app that asks for approvals and hears nothing that people say. */
  approvalsOnly: boolean;
}

const approvalScopes: BotScopes = [
  'chat:write',
  'channels:read',
  'groups:read',
  'users:read',
  'users:read.email',
];

const conversationScopes: BotScopes = [
  'app_mentions:read',
  'im:history',
  'reactions:write',
  'files:write',
];

/** The scopes that the bot's token needs. */
export function botScopes({ approvalsOnly = false } = {}): BotScopes {
  return approvalsOnly ? approvalScopes : [...approvalScopes, ...conversationScopes];
}

/**
 * Writes down the Slack app that approvals and conversations need: Socket Mode, so that nothing has to be
 * reachable from outside, buttons, and no more scopes than are used. A manifest cannot hold the scope of the app-level
 * token, `connections:write`.
 */
export function slackManifest({ name, approvalsOnly }: ManifestOptions): SlackManifest {
  return {
    _metadata: { major_version: 1, minor_version: 1 },
    display_information: {
      name,
      description: 'Asks people to release the tool calls of an agent.',
      background_color: '#1f2937',
    },
    features: {
      app_home: {
        home_tab_enabled: false,
        messages_tab_enabled: true,
        messages_tab_read_only_enabled: approvalsOnly,
      },
      bot_user: { display_name: botName(name), always_online: true },
    },
    oauth_config: { scopes: { bot: botScopes({ approvalsOnly }) } },
    settings: {
      // A person who leaves decides nothing from then on.
      event_subscriptions: {
        bot_events: approvalsOnly ? ['user_change'] : ['app_mention', 'message.im', 'user_change'],
      },
      interactivity: { is_enabled: true },
      org_deploy_enabled: false,
      socket_mode_enabled: true,
      token_rotation_enabled: false,
    },
  };
}

/** Slack takes lower-case letters, digits, `-`, `_` and `.` in the name of a bot. */
function botName(name: string): string {
  const kept = name.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-');
  return kept.replaceAll(/^-+|-+$/g, '').slice(0, longestBotName) || 'holdpoint';
}
