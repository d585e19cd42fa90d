import type { ErrorJson } from '../../../http/wire/dashboard/workspace-json.ts';

/** An error response of the server, or no response (status 0), with the sentence to display. */
export class ApiError extends Error {
  readonly status: number;
  readonly hint: string | null;
  /** The code of the error (docs/errors.md); `null` without one. */
  readonly code: string | null;
  /** The parsed response; `null` if it was not JSON. */
  readonly body: unknown;

  constructor(status: number, message: string, body: unknown = null, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ApiError';
    this.status = status;
    this.body = body;
    this.hint = isError(body) ? (body.hint ?? null) : null;
    this.code = isError(body) ? (body.code ?? null) : null;
  }
}

/** Returns whether a body has the form of an error. */
export function isError(body: unknown): body is ErrorJson {
  return (
    typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string'
  );
}
