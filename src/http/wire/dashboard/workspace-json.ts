import type { PersonJson } from '../approvals-page.ts';

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
  /** The person who has signed in; absent at the dashboard's own address. */
  person?: PersonJson;
  /** A newer released version; absent if there is none or the check is off. */
  newer_release?: string;
}

/** Body of every error response. */
export interface ErrorJson {
  /** One sentence, or `unauthorized` if the token is missing. */
  error: string;
  /** See docs/errors.md. */
  code?: string;
  /** The command that fixes the problem. */
  hint?: string;
  needs_passphrase?: true;
  /** Path at which people sign in. */
  sign_in?: string;
  /** Path of the page of a person who may not use the dashboard. */
  page?: string;
}
