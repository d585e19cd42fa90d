/** A delivery from Slack over the socket. */
export interface SlackEnvelope {
  /** Identical for redeliveries. */
  id: string;
  /** Such as `interactive` or `events_api`. */
  type: string;
  body: unknown;
  /** Acknowledges the delivery, with a response if Slack expects one. Rejects if the socket is closed. */
  ack(response?: object): Promise<void>;
}

/** The app's identity in Slack; deliveries for other apps are dropped. */
export interface SlackSelf {
  appId: string | null;
  teamId: string;
  botUserId: string;
  botId: string;
  scopes: string[];
}
