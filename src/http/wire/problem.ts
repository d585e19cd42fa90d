import { z } from 'zod';
import type { JsonValue } from '../../machines/json.ts';

/** The error format of Holdpoint's own routes. */
export const refusal = z
  .object({ error: z.string().describe('One sentence that says what is wrong.') })
  .meta({ id: 'Refusal' });

export const unauthorized = z
  .object({
    error: z.string(),
    message: z.string().exactOptional(),
    tool: z.string().exactOptional(),
    required_acr: z.string().exactOptional(),
    reason: z.string().exactOptional(),
  })
  .meta({ id: 'Unauthorized' });

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
