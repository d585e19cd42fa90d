/**
 * Settings of intent alignment (docs/contract/configuration.md, docs/contract/governance.md); the timeout is in
 * milliseconds.
 */
export interface AlignmentSettings {
  enabled: boolean;
  provider: 'openai' | 'openai-compatible' | 'google' | 'ollama' | 'local';
  model: string;
  base_url?: string | undefined;
  api_key_env?: string | undefined;
  timeout: number;
  /** Score below which a call gets a warning; below the lower, hard threshold it is denied. */
  threshold: number;
  hard_threshold: number;
  drift?: { window: number; drift_threshold: number; monotone_n: number } | undefined;
}
