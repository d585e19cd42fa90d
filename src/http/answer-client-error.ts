import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Ids } from '../actors/ports.ts';
import { type RawRefusal, rawRefusal } from './raw-refusal.ts';
import type { RefusedRequest } from './wire/present-refusal.ts';

/** Node's codes for unreadable requests, each with its answer. */
const refusals: Record<string, RawRefusal> = {
  HPE_HEADER_OVERFLOW: { status: 431, error: 'the headers of the request are too long' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    error: 'the chunk extensions of the body are too long',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, error: 'the request did not arrive in time' },
};

const malformed: RawRefusal = { status: 400, error: 'the request is not valid HTTP' };

/** Bytes of a first line that identify the called surface. */
const longestLine = 256;

/** Node's report of bytes that form no request. */
interface UnreadError extends NodeJS.ErrnoException {
  /** The bytes it was reading. */
  rawPacket?: Buffer;
}

/** The last request of a connection that could be read, and its response. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/**
 * Answers connections whose request never became one, with the headers that every response carries
 * (docs/contract/transports.md), and closes them. `exchangeOn` tells what a connection served last; while that response
 * is under way, the connection is closed without a word, since a second answer in the middle of it would be read as
 * part of it.
 */
export function answerClientErrors({
  ids,
  exchangeOn,
}: {
  ids: Ids;
  exchangeOn: (socket: Duplex) => Exchange | undefined;
}) {
  return function clientErrorAnswerer(error: UnreadError, socket: Duplex): void {
    const isMine = error.code !== 'ECONNRESET' && socket.writable;
    const exchange = exchangeOn(socket);
    if (!isMine || !isTurnOf(exchange, socket)) return void socket.destroy();
    const refusal = refusals[error.code ?? ''] ?? malformed;
    const asked = askedIn(exchange, error.rawPacket);
    const told = asked === null ? refusal : { ...refusal, asked };
    socket.end(rawRefusal(told, ids.next()), () => socket.destroy());
  };
}

/** Returns the request as far as it is known: the one whose body cannot be read, else the first line of the bytes. */
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

/** Tells whether a write to the connection now answers the unreadable request. */
function isTurnOf(exchange: Exchange | undefined, socket: Duplex): boolean {
  if (exchange === undefined || exchange.response.writableFinished) return true;
  const { request, response } = exchange;
  return !request.complete && !response.headersSent && response.socket === socket;
}
