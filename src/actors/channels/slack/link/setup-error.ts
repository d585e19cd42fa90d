/** A fault of the Slack app that a person must fix; the message names it without secrets. */
export class SlackSetupError extends Error {
  readonly code = 'slack_setup';
}
