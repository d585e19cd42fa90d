/** What `tools[].config` may say of a builtin tool. */
export interface ToolConfig {
  /** Which service `web_search` asks. */
  provider?: 'tavily' | 'perplexity' | undefined;
  /** Where that service answers, when it is elsewhere. */
  base_url?: string | undefined;
  /** The variable that holds its key. */
  api_key_env?: string | undefined;
  /** Names of the programs that `cli_execute` may run. */
  commands?: readonly string[] | undefined;
  /** Milliseconds that one of them may run. */
  timeout?: number | undefined;
}
