/** A fault of the Slack app that a person needs to fix; the message names it without secrets. */
export class SlackSetupError extends Error {
  readonly code = 'slack_setup';
}
