/** Settings of a builtin tool in `tools[].config`. */
export interface ToolConfig {
  /** Service of `web_search`. */
  provider?: 'tavily' | 'perplexity' | undefined;
  /** Base URL of that service, if it differs from the default. */
  base_url?: string | undefined;
  /** The variable that holds its key. */
  api_key_env?: string | undefined;
  /** Names of the programs that `cli_execute` may run. */
  commands?: readonly string[] | undefined;
  /** Time limit of such a program, in milliseconds. */
  timeout?: number | undefined;
}
