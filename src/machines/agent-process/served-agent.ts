/** A process that serves an agent, as described by its `serve.json` (docs/contract/serve.md). */
export interface ServedAgent {
  pid: number;
  host: string;
  port: number;
  /** RFC 3339. */
  startedAt: string;
  /** The policy digest; absent for older releases. */
  policySha256?: string;
  /** How changed rules come into force; absent for older releases. */
  policyReload?: 'auto' | 'manual';
  /** The problem because of which the rules in the files are not in force; absent for none. */
  policyProblem?: string;
  /** True if the files have settings that apply at the next start; absent otherwise. */
  policyNeedsRestart?: true;
}
