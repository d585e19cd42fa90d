/** Settings of Slack (docs/contract/chat.md); the tokens show neither in JSON nor when inspected. */
export interface SlackSettings {
  /** Begins with `xoxb-`. */
  readonly botToken: string;
  /** Begins with `xapp-`. */
  readonly appToken: string;
  /** Ends with a slash. */
  readonly apiUrl: string;
  /** The URL that messages link to; `null` for no link. */
  readonly dashboardUrl: string | null;
  /** True when messages of people become tasks. */
  readonly conversations: boolean;
}

/** Settings of Telegram (docs/contract/chat.md); the token shows neither in JSON nor when inspected. */
export interface TelegramSettings {
  readonly token: string;
  /** Ends without a slash. */
  readonly apiUrl: string;
  /** Ids or names of the people who may write to the agent; `null` for everybody. */
  readonly allowedUsers: string[] | null;
}

/** Settings of webhooks (docs/contract/chat.md). */
export interface WebhookSettings {
  /** The URL that they link to; `null` for no link. */
  readonly dashboardUrl: string | null;
  /** By the name that `channel:webhook:<name>` says. */
  readonly targets: Readonly<Record<string, WebhookTarget>>;
}

/** A receiver of webhooks; the secret shows neither in JSON nor when inspected. */
export interface WebhookTarget {
  readonly url: string;
  /** Signs the posts. */
  readonly secret: string;
}

/** The adapters that can run; `null` for one that is not in `channels` or lacks what it needs. */
export interface ChannelsReading {
  readonly slack: SlackSettings | null;
  readonly telegram: TelegramSettings | null;
  readonly webhook: WebhookSettings | null;
}

/** Tells whether people can ask the agent in a chat. */
export function hearsPeople({ slack, telegram }: ChannelsReading): boolean {
  return telegram !== null || slack?.conversations === true;
}
