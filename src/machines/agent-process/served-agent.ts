/** A process that serves an agent, as its `serve.json` tells (docs/contract/serve.md). */
export interface ServedAgent {
  pid: number;
  host: string;
  port: number;
  /** RFC 3339. */
  startedAt: string;
  /** The digest of its policy; absent for an older release. */
  policySha256?: string;
}
