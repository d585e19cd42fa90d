import type { AppsManifestCreateArguments } from '@slack/web-api';
import { stringify } from 'yaml';
import { CliError, exitCodes } from '../cli-error.ts';
import type { Session } from '../session.ts';

/** An app manifest. Slack accepts it as JSON or YAML. */
type SlackManifest = Exclude<AppsManifestCreateArguments['manifest'], string>;

type BotScopes = NonNullable<
  NonNullable<NonNullable<SlackManifest['oauth_config']>['scopes']>['bot']
>;

/** Maximum length of an app's name in characters. */
const longestName = 35;

/** Maximum length of the bot's name in characters. */
const longestBotName = 80;

/** The purpose of an app. */
interface ManifestOptions {
  name: string;
  /** True for an app that only asks for approvals and receives no messages. */
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

/** Returns the OAuth scopes that the bot token needs. */
export function botScopes({ approvalsOnly = false } = {}): BotScopes {
  return approvalsOnly ? approvalScopes : [...approvalScopes, ...conversationScopes];
}

/**
 * Builds the manifest of the Slack app for approvals and conversations. The app uses Socket Mode, so nothing has to be
 * reachable from outside, and requests no unused scopes. A manifest cannot contain the scope of the app-level token,
 * `connections:write`.
 */
function slackManifest({ name, approvalsOnly }: ManifestOptions): SlackManifest {
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
      // A user who leaves the channel can no longer decide.
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

/** Slack accepts lower-case letters, digits, `-`, `_` and `.` in the name of a bot. */
function botName(name: string): string {
  const kept = name.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-');
  return kept.replaceAll(/^-+|-+$/g, '').slice(0, longestBotName) || 'holdpoint';
}

export interface SlackManifestOptions {
  name: string;
  approvalsOnly?: boolean;
}

/** `slack manifest`: prints the Slack app's manifest as YAML, or as JSON with --json. Slack accepts both. */
export function printManifest(
  { output }: Session,
  { name: given, approvalsOnly = false }: SlackManifestOptions,
): void {
  const name = given.trim();
  if (name === '' || [...name].length > longestName) throw badName();
  const manifest = slackManifest({ name, approvalsOnly });
  output.line(stringify(manifest).trimEnd());
  output.json(manifest);
  output.note(
    'make the app from it at https://api.slack.com/apps (Create New App, From a manifest)',
  );
  output.note('it also needs an app-level token with the scope connections:write');
}

function badName(): CliError {
  return new CliError(`--name must have 1 to ${longestName} characters`, {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: 'Slack allows no longer name for an app',
  });
}
