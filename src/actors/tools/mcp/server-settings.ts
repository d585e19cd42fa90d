/** An MCP server as the settings name it (docs/contract/models.md): it has either a `url` or a `command`. */
export interface McpServerSettings {
  name: string;
  url?: string | undefined;
  /** Sent to `url`. */
  headers: Record<string, string>;
  command?: string | undefined;
  args: readonly string[];
  env: Record<string, string>;
  /** What `${NAME}` filled into the values of `headers` and `env`. */
  filled?: readonly string[] | undefined;
  /** Milliseconds without progress after which a call is given up, and with it; 60 s and 24 h when left out. */
  timeout?: number | undefined;
  total_timeout?: number | undefined;
  /** Either of the two; the names are those of the server. */
  tools: { allow?: readonly string[] | undefined; deny?: readonly string[] | undefined };
}
