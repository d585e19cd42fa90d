import type { JsonValue } from '../../machines/json.ts';

/** A refusal as the caller receives it: status, JSON body and extra headers. */
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

/** Flattens a body to texts, the only values in the details of an AIP-193 error. */
export function textsOf(body: Problem['body']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}
