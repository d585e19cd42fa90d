import { ProtocolErrorCode } from '@modelcontextprotocol/client';
import { JSONRPCErrorResponseSchema } from '@modelcontextprotocol/core';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../../machines/json.ts';
import { readRetryAfter } from '../../read-retry-after.ts';

/** Maximum characters of a refusal's body that are inspected. */
const looked = 64 * 1024;

/** A request that an HTTP server refused. */
export interface RefusedRequest {
  /** Id of its message; `null` for a notification. */
  id: unknown;
  /** Session of the request; `null` for none. */
  session: string | null;
  /** Epoch milliseconds. */
  now: number;
  /** Removes the agent's credentials from a server's text. */
  redact: (text: string) => string;
}

/** A server's HTTP response to a request that is not a protocol message. */
export class HttpRefusal extends Error {
  readonly code = 'mcp_http_refusal';
  readonly status: number;
  /** The server's own explanation; empty for none. */
  readonly said: string;
  /** Retry delay that the server asks for, in milliseconds; `null` for none. */
  readonly retryAfter: number | null;
  /** True if the server does not know the session, so it certainly executed nothing. */
  readonly isSessionGone: boolean;
  /** True if the server names a sign-in page. */
  readonly wantsOAuth: boolean;

  constructor(response: Response, said: string, { isSessionGone = false, now = 0 } = {}) {
    super(`HTTP ${response.status}`);
    const { status, headers } = response;
    this.status = status;
    this.said = said;
    this.isSessionGone = isSessionGone;
    this.retryAfter = readRetryAfter(headers.get('retry-after'), now);
    this.wantsOAuth = headers.get('www-authenticate')?.includes('resource_metadata') === true;
  }
}

/** Status codes that concern the whole server or the request rate, not a single request. */
const aboutServer: ReadonlySet<number> = new Set([401, 405, 429]);

/** Messages of servers that answer 400 for a forgotten session. */
const noSession =
  /\b(?:no|not|invalid|unknown|expired|missing)\b.{0,40}\bsession|\bsession\b.{0,40}\b(?:not|invalid|unknown|expired|missing)\b/i;

/**
 * The same messages under the id of a call. A session of another kind, such as a checkout's, is an argument of the
 * call.
 */
const noSuchSession =
  /^(?:[a-z ]{1,30}: )?(?:(?:no|invalid|unknown|expired|missing)(?: or (?:invalid|unknown|expired|missing))?(?: such| valid| active)? (?:mcp[- ])?session|(?:the )?(?:mcp[- ])?session(?:[- ]?id)? (?:(?:is|was|has|does) )?(?:not|invalid|unknown|expired|missing)\b)/i;

/**
 * Reads a refusal. A JSON-RPC error in its body is the answer to the request, regardless of the status; anything else
 * is thrown as HttpRefusal.
 */
export async function readRefusal(response: Response, request: RefusedRequest): Promise<Response> {
  const { id, session, now, redact } = request;
  const text = (await response.text().catch(() => '')).slice(0, looked);
  const error = errorIn(text);
  const words = wordsOf(error, text);
  const isForeign = error === null || !isSameId(error['id'], id);
  const isNamed = saysNoSession(words, isForeign, session) && !isOfCall(error);
  const isOwn = error !== null && id !== null && (!isForeign || (error['id'] ?? null) === null);
  const isSessionGone =
    session !== null &&
    ((response.status === 404 && (isForeign || isNamed)) ||
      (response.status === 400 && isForeign && isNamed));
  if (isOwn && !isSessionGone && !aboutServer.has(response.status)) {
    const message = { jsonrpc: '2.0', id, error: error['error'] };
    return Response.json(message, { headers: { 'content-type': 'application/json' } });
  }
  const said = words === '' ? scopeIn(response.headers.get('www-authenticate') ?? '') : words;
  throw new HttpRefusal(response, redact(said), { isSessionGone, now });
}

function errorIn(text: string): JsonObject | null {
  const said = parseJson(text);
  const [first = null] = Array.isArray(said) ? said : [said];
  if (!isJsonObject(first)) return null;
  const message = { ...first, jsonrpc: '2.0', id: first['id'] ?? undefined };
  return JSONRPCErrorResponseSchema.safeParse(message).success ? first : null;
}

/** Returns the message in a body: an error's message, a string under a common key, or plain text; none for a web page. */
function wordsOf(error: JsonObject | null, text: string): string {
  if (error !== null) return textOf((error['error'] as JsonObject)['message']);
  const said = parseJson(text);
  if (isJsonObject(said)) {
    const { error_description: described, detail, message, error: plain } = said;
    const nested = isJsonObject(plain) ? plain['message'] : plain;
    const words = [described, detail, message, nested].find((one) => typeof one === 'string');
    if (typeof words === 'string') return words;
  }
  return /^\s*</.test(text) ? '' : text.trim();
}

/** Returns the missing scope that a server names. */
function scopeIn(challenge: string): string {
  const error = /\berror="([^"]{1,100})"/.exec(challenge)?.[1];
  const scope = /\bscope="([^"]{1,200})"/.exec(challenge)?.[1];
  return [error, scope === undefined ? undefined : `scope ${scope}`]
    .filter((part) => part !== undefined)
    .join(', ');
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Returns whether a string reports that the session of a request is gone. */
function saysNoSession(words: string, isForeign: boolean, session: string | null): boolean {
  if (isForeign || session === null) return noSession.test(words);
  return noSuchSession.test(words.replaceAll(session, '').replaceAll(/\s+/g, ' '));
}

/** Returns whether an error concerns the arguments or execution of a call rather than the connection. */
function isOfCall(error: JsonObject | null): boolean {
  const { code } = (error?.['error'] ?? {}) as JsonObject;
  return code === ProtocolErrorCode.InvalidParams || code === ProtocolErrorCode.InternalError;
}

/** Some servers return a numeric request id as text. */
function isSameId(said: unknown, id: unknown): boolean {
  return said === id || (typeof id === 'number' && said === String(id));
}
