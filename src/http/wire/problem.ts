import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../machines/json.ts';
import { agentErrorCodes, type ErrorCode, errorCodes } from './error-codes.ts';

export const errorCode = z
  .enum(agentErrorCodes)
  .describe('Stable code of the error; a later release can add codes.')
  .meta({ id: 'ErrorCode' });

/** The error format of Holdpoint's own routes. */
export const refusal = z
  .object({ error: z.string().describe('Message for a person.'), code: errorCode })
  .meta({ id: 'Refusal' });

export const unauthorized = z
  .object({
    error: z.string(),
    code: errorCode,
    message: z.string().exactOptional(),
    tool: z.string().exactOptional(),
    required_acr: z.string().exactOptional(),
    reason: z.string().exactOptional(),
  })
  .meta({ id: 'Unauthorized' });

/** The body of an error response. */
export interface ErrorBody {
  error: string;
  code: ErrorCode;
  [key: string]: JsonValue;
}

/** An error response: status, JSON body and extra headers. */
export class Problem extends Error {
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers: Record<string, string>;

  /** @param more further members of the body */
  constructor(
    code: ErrorCode,
    error: string,
    more: JsonObject = {},
    headers: Record<string, string> = {},
  ) {
    super(error);
    [this.status] = errorCodes[code];
    this.body = { error, code, ...more };
    this.headers = headers;
  }
}

/** Returns a problem with further members in its body. */
export function withMembers({ body, headers }: Problem, more: JsonObject): Problem {
  return new Problem(body.code, body.error, { ...body, ...more }, headers);
}

/** Returns what other formats than that of `refusal` say: the body without its code. */
export function uncoded({ code: _, ...said }: ErrorBody): Said {
  return said as Said;
}

/** An error and its facts, without its code. */
export interface Said {
  error: string;
  [key: string]: JsonValue;
}

/** Flattens a body to strings, the only value type in the details of an AIP-193 error. */
export function textsOf(said: Said): Record<string, string> {
  return Object.fromEntries(
    Object.entries(said).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}
