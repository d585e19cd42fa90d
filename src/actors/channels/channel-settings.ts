/** Settings of Slack (docs/contract/chat.md); JSON and `inspect` output omit the tokens. */
export interface SlackSettings {
  /** Starts with `xoxb-`. */
  readonly botToken: string;
  /** Starts with `xapp-`. */
  readonly appToken: string;
  /** With a trailing slash. */
  readonly apiUrl: string;
  /** The dashboard URL for links in messages; `null` for no links. */
  readonly dashboardUrl: string | null;
  /** True if users' messages become tasks. */
  readonly conversations: boolean;
}

/** Settings of Telegram (docs/contract/chat.md); JSON and `inspect` output omit the token. */
export interface TelegramSettings {
  readonly token: string;
  /** Without a trailing slash. */
  readonly apiUrl: string;
  /** Ids or names of the users who may write to the agent; `null` for everybody. */
  readonly allowedUsers: string[] | null;
  /** Verified emails of the people who may decide, by their id in Telegram. */
  readonly people: Readonly<Record<string, string>>;
  /** True if users' messages become tasks. */
  readonly conversations: boolean;
}

/** Settings of webhooks (docs/contract/chat.md). */
export interface WebhookSettings {
  /** The dashboard URL for links in messages; `null` for no links. */
  readonly dashboardUrl: string | null;
  /** Targets by the name in `channel:webhook:<name>`. */
  readonly targets: Readonly<Record<string, WebhookTarget>>;
}

/** A receiver of webhooks; JSON and `inspect` output omit the secret. */
export interface WebhookTarget {
  readonly url: string;
  /** Signing key of the posts. */
  readonly secret: string;
}

/** Settings of email (docs/contract/chat.md); JSON and `inspect` output omit the password. */
export interface EmailSettings {
  readonly host: string;
  readonly port: number;
  /** `tls` from the start, `starttls` before the mail, or `none` on this machine. */
  readonly security: 'tls' | 'starttls' | 'none';
  /** Name at the server; `null` for no sign-in. */
  readonly user: string | null;
  readonly password: string;
  /** Address of the sender. */
  readonly from: string;
  /** Address of the page on which people decide. */
  readonly pageUrl: string;
}

/** Settings of Microsoft Teams (docs/contract/chat.md). */
export interface TeamsSettings {
  /** Address of the page on which people decide. */
  readonly pageUrl: string;
  /** Webhooks by the name in `channel:teams:<name>`; JSON and `inspect` output omit the URL, which is a secret. */
  readonly targets: Readonly<Record<string, { readonly url: string }>>;
}

/** The usable adapters; `null` for an adapter that is not in `channels` or lacks a required setting. */
export interface ChannelsReading {
  readonly slack: SlackSettings | null;
  readonly telegram: TelegramSettings | null;
  readonly webhook: WebhookSettings | null;
  readonly email?: EmailSettings | null;
  readonly teams?: TeamsSettings | null;
}

/** Returns whether any chat accepts conversations with the agent. */
export function hearsPeople({ slack, telegram }: ChannelsReading): boolean {
  return telegram?.conversations === true || slack?.conversations === true;
}
