/** A process that serves an agent, as described by its `serve.json` (docs/contract/serve.md). */
export interface ServedAgent {
  pid: number;
  host: string;
  port: number;
  /** RFC 3339. */
  startedAt: string;
  /** The policy digest; absent for older releases. */
  policySha256?: string;
}
