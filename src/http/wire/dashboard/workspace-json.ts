/** Response of `GET /api/health`. */
export interface HealthJson {
  status: 'ok';
  version: string;
  agents_running: number;
}

/** Response of `GET /api/workspace`. */
export interface WorkspaceJson {
  directory: string;
  version: string;
  token_required: boolean;
  /** A newer released version; absent if there is none or the check is off. */
  newer_release?: string;
}

/** Body of every error response. */
export interface ErrorJson {
  /** One sentence, or `unauthorized` if the token is missing. */
  error: string;
  /** The command that fixes the problem. */
  hint?: string;
  needs_passphrase?: true;
}
