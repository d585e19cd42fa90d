/** Something about the Slack app that a person has to mend; the message says what, without secrets. */
export class SlackSetupError extends Error {
  readonly code = 'slack_setup';
}
