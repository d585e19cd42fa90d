import { STATUS_CODES } from 'node:http';
import { presentRefusal, type RefusedRequest } from './wire/present-refusal.ts';

/** A refusal of a connection that never got as far as a request. */
export interface RawRefusal {
  status: number;
  error: string;
  /** Headers besides those that every response carries. */
  headers?: readonly string[];
  /** The requested method and path as far as they were read: they choose the format of the refusal. */
  asked?: RefusedRequest;
}

/**
 * Serializes a refusal as the bytes of a whole HTTP/1.1 response, with the headers of every response
 * (docs/contract/transports.md); close the connection after it.
 */
export function rawRefusal(
  { status, error, headers = [], asked }: RawRefusal,
  correlationId: string,
): string {
  const plain = { error };
  const refusal = asked === undefined ? plain : presentRefusal({ status, body: plain }, asked);
  const body = JSON.stringify(refusal);
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
