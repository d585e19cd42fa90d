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
