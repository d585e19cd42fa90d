/** The agent's configuration does not allow a test. Each problem has a location and a remedy. */
export class UnusableAgentError extends Error {
  readonly code = 'agent_unusable';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the agent cannot be started:\n${problems.join('\n')}`);
    this.problems = problems;
  }
}
