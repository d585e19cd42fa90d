import type { ServerAuthSettings } from './auth/auth-settings.ts';

/** A configured MCP server (docs/contract/models.md) with either a `url` or a `command`. */
export interface McpServerSettings {
  name: string;
  url?: string | undefined;
  /** Sent to `url`. */
  headers: Record<string, string>;
  /** Access to `url` by OAuth. */
  auth?: ServerAuthSettings | undefined;
  command?: string | undefined;
  args: readonly string[];
  env: Record<string, string>;
  /** Values that `${NAME}` inserted into `headers`, `env` and `url`. */
  filled?: readonly string[] | undefined;
  /** Time limit of a call without progress (and, below, with progress), in milliseconds; 60 s and 24 h by default. */
  timeout?: number | undefined;
  total_timeout?: number | undefined;
  /** Whether people answer the questions of the server; refused by default. */
  elicitation?: 'refuse' | 'ask' | undefined;
  /** Exactly one of the two; the names are the server's own. */
  tools: { allow?: readonly string[] | undefined; deny?: readonly string[] | undefined };
}
