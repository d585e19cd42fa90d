/** Answer of `GET /api/health`. */
export interface HealthJson {
  status: 'ok';
  version: string;
  agents_running: number;
}

/** Answer of `GET /api/workspace`. */
export interface WorkspaceJson {
  directory: string;
  version: string;
  token_required: boolean;
  /** A newer version that is out; absent for none, and while nobody looks for any. */
  newer_release?: string;
}

/** Body of every refusal. */
export interface ErrorJson {
  /** One sentence; `unauthorized` where a token is missing. */
  error: string;
  /** The command that mends it. */
  hint?: string;
  needs_passphrase?: true;
}
