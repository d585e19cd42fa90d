/** An agent cannot be tested as it is configured; each problem says where it stands and what to do. */
export class UnusableAgentError extends Error {
  readonly code = 'agent_unusable';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the agent cannot be started:\n${problems.join('\n')}`);
    this.problems = problems;
  }
}
