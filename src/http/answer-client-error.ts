import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Ids } from '../actors/ports/ids.ts';
import type { Lingering } from './lingering.ts';
import { type RawRefusal, rawRefusal } from './raw-refusal.ts';
import type { RefusedRequest } from './wire/present-refusal.ts';

/** The response for each of Node's error codes for unreadable requests. */
const refusals: Record<string, RawRefusal> = {
  HPE_HEADER_OVERFLOW: {
    code: 'headers_too_large',
    error: 'the headers of the request are too long',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    code: 'body_too_large',
    error: 'the chunk extensions of the body are too long',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'request_timeout',
    error: 'the request did not arrive in time',
  },
};

const malformed: RawRefusal = { code: 'invalid_http', error: 'the request is not valid HTTP' };

/** Number of bytes of the request line used to identify the surface. */
const longestLine = 256;

/** Node's error for bytes that are not a valid request. */
interface UnreadError extends NodeJS.ErrnoException {
  /** The bytes that Node was parsing. */
  rawPacket?: Buffer;
}

/** The last readable request of a connection, and its response. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/**
 * Answers connections whose bytes are not a valid request, with the standard headers (docs/contract/transports.md), and
 * closes them. `exchangeOn` returns the last exchange of a connection. If its response is still in progress, the
 * connection is closed without an answer, because a second response would be read as part of the first.
 */
export function answerClientErrors({
  ids,
  exchangeOn,
  lingering,
}: {
  ids: Ids;
  exchangeOn: (socket: Duplex) => Exchange | undefined;
  lingering: Lingering;
}) {
  return function clientErrorAnswerer(error: UnreadError, socket: Duplex): void {
    const isMine = error.code !== 'ECONNRESET' && socket.writable;
    const exchange = exchangeOn(socket);
    if (!isMine || !isTurnOf(exchange, socket)) return void socket.destroy();
    const refusal = refusals[error.code ?? ''] ?? malformed;
    const asked = askedIn(exchange, error.rawPacket);
    const told = asked === null ? refusal : { ...refusal, asked };
    lingering.close(socket as Socket, rawRefusal(told, ids.next()));
  };
}

/** Returns the known part of the request: the request with the unreadable body, else the first line of the bytes. */
function askedIn(exchange: Exchange | undefined, bytes?: Buffer): RefusedRequest | null {
  const request = exchange?.response.writableFinished === false ? exchange.request : null;
  const line = bytes?.toString('latin1', 0, longestLine) ?? '';
  const [, method = '', target = ''] = /^([A-Z]+) (\/[^ ?#]*)/.exec(line) ?? [];
  const said = request === null ? { method, path: target } : pathOf(request);
  return said.path === '' ? null : said;
}

function pathOf({ method = '', url = '' }: IncomingMessage): RefusedRequest {
  return { method, path: url.replace(/[?#].*$/s, '') };
}

/** Returns true if a write to the connection now would answer the unreadable request. */
function isTurnOf(exchange: Exchange | undefined, socket: Duplex): boolean {
  if (exchange === undefined || exchange.response.writableFinished) return true;
  const { request, response } = exchange;
  return !request.complete && !response.headersSent && response.socket === socket;
}
