import { STATUS_CODES } from 'node:http';
import type { AgentErrorCode } from './wire/error-codes.ts';
import { presentRefusal, type RefusedRequest } from './wire/present-refusal.ts';
import { Problem } from './wire/problem.ts';

/** The refusal of a connection without a readable request. */
export interface RawRefusal {
  code: AgentErrorCode;
  error: string;
  /** Headers in addition to the standard ones. */
  headers?: readonly string[];
  /** Method and path as far as they were read. They determine the format of the refusal. */
  asked?: RefusedRequest;
}

/**
 * Serialises a refusal as a complete HTTP/1.1 response with the standard headers (docs/contract/transports.md). Close
 * the connection afterwards.
 */
export function rawRefusal(
  { code, error, headers = [], asked }: RawRefusal,
  correlationId: string,
): string {
  const problem = new Problem(code, error);
  const { status } = problem;
  const body = JSON.stringify(asked === undefined ? problem.body : presentRefusal(problem, asked));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `X-Correlation-ID: ${correlationId}`,
    'X-Content-Type-Options: nosniff',
    'Referrer-Policy: no-referrer',
    'Cross-Origin-Resource-Policy: same-origin',
    'Cache-Control: no-store',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
