import type { JsonValue } from '../../machines/json.ts';

/** An error response: status, JSON body and extra headers. */
export class Problem extends Error {
  readonly status: number;
  readonly body: { error: string; [key: string]: JsonValue };
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    body: { error: string; [key: string]: JsonValue },
    headers: Record<string, string> = {},
  ) {
    super(body.error);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** Flattens a body to strings, the only value type in the details of an AIP-193 error. */
export function textsOf(body: Problem['body']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}
