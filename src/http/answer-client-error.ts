import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Ids } from '../actors/ports.ts';

/** What Node calls the ways in which a request cannot be read, and how each is answered. */
const refusals: Record<string, { status: number; error: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, error: 'the headers of the request are too long' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, error: 'the request did not arrive in time' },
};

const malformed = { status: 400, error: 'the request is not valid HTTP' };

/**
 * Answers connections whose request never became one, with the headers that every response
 * carries (contract section 5), and closes them.
 */
export function answerClientErrors({ ids }: { ids: Ids }) {
  return function clientErrorAnswerer(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else refuse(error, socket, ids.next());
  };
}

function refuse(error: NodeJS.ErrnoException, socket: Duplex, correlationId: string): void {
  const refusal = refusals[error.code ?? ''] ?? malformed;
  const body = JSON.stringify({ error: refusal.error });
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    `X-Correlation-ID: ${correlationId}`,
    'X-Content-Type-Options: nosniff',
    'Referrer-Policy: no-referrer',
    'Cache-Control: no-store',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
