/** A delivery of Slack over the socket. */
export interface SlackEnvelope {
  /** The same for every delivery of the same thing. */
  id: string;
  /** Such as `interactive` or `events_api`. */
  type: string;
  body: unknown;
  /** Tells Slack that it arrived, with an answer where one is expected. Rejects when the socket is gone. */
  ack(response?: object): Promise<void>;
}

/** The app's identity in Slack; deliveries for others are dropped. */
export interface SlackSelf {
  appId: string | null;
  teamId: string;
  botUserId: string;
  botId: string;
  /** The scopes of the bot's token. */
  scopes: string[];
}
