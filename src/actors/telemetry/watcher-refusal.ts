import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isLoopbackUrl } from '../../machines/loopback.ts';

export interface Refusal {
  status: 401 | 403 | 404 | 503;
  reason: string;
}

/** Hosts of the inspector, which listens only on loopback. */
const ownNames = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Checks whether a request may watch: it names this machine and port, comes from no foreign web page and contains the
 * token. Returns `null` if it may.
 */
export function watcherRefusal(
  request: Pick<IncomingMessage, 'url' | 'headers' | 'rawHeaders'>,
  { port, token }: { port: number; token: string },
): Refusal | null {
  if (!isOwnHost(request, port)) return { status: 403, reason: 'the Host is not this inspector' };
  if (!isLoopbackOrigin(request.headers.origin)) {
    return { status: 403, reason: 'the Origin is not on this machine' };
  }
  const [path, query] = (request.url ?? '').split('?', 2);
  if (path !== '/') return { status: 404, reason: 'the stream is at /' };
  const presented = new URLSearchParams(query).get('token') ?? '';
  return isSame(presented, token) ? null : { status: 401, reason: 'the token is missing or wrong' };
}

/** Refuses two Host headers, since only the first would be checked. */
function isOwnHost(
  { headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
  port: number,
): boolean {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  const isSingle = names.filter((name) => name.toLowerCase() === 'host').length === 1;
  return isSingle && ownNames.some((name) => headers.host === `${name}:${port}`);
}

/** Programs send no Origin; a web page always does. */
function isLoopbackOrigin(origin: string | undefined): boolean {
  if (origin === undefined) return true;
  const url = URL.parse(origin);
  return url !== null && /^https?:$/.test(url.protocol) && isLoopbackUrl(url);
}

function isSame(presented: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(presented), digest(expected));
}
