import { ErrorCode, JSONRPCErrorResponseSchema } from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import { readRetryAfter } from '../../read-retry-after.ts';

/** How much of the body of a refusal is looked at, in characters. */
const looked = 64 * 1024;

/** A request that a server over HTTP did not serve. */
export interface RefusedRequest {
  /** The id of its message; `null` for one that wants no answer. */
  id: unknown;
  /** The session that it named; `null` for none. */
  session: string | null;
  /** Epoch milliseconds. */
  now: number;
  /** Takes what the agent signs in with out of words of the server. */
  redact: (text: string) => string;
}

/** What a server over HTTP answers to a request in place of a message. */
export class HttpRefusal extends Error {
  readonly code = 'mcp_http_refusal';
  readonly status: number;
  /** What the server says of it, in its words; empty for nothing. */
  readonly said: string;
  /** Milliseconds for which the server asks to be left alone; `null` when it does not say. */
  readonly retryAfter: number | null;
  /** True when the server has no such session, so that it certainly did nothing. */
  readonly isSessionGone: boolean;
  /** True when the server says where a person signs in. */
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

/** What says of the whole server, or of how often it is asked, is no answer to one request. */
const aboutServer: ReadonlySet<number> = new Set([401, 405, 429]);

/** What servers say that answer 400 for a session that they have forgotten. */
const noSession =
  /\b(?:no|not|invalid|unknown|expired|missing)\b.{0,40}\bsession|\bsession\b.{0,40}\b(?:not|invalid|unknown|expired|missing)\b/i;

/** What they say under the id of a call. A session of another kind, such as that of a checkout, is an argument of the call. */
const noSuchSession =
  /^(?:[a-z ]{1,30}: )?(?:(?:no|invalid|unknown|expired|missing)(?: or (?:invalid|unknown|expired|missing))?(?: such| valid| active)? (?:mcp[- ])?session|(?:the )?(?:mcp[- ])?session(?:[- ]?id)? (?:(?:is|was|has|does) )?(?:not|invalid|unknown|expired|missing)\b)/i;

/**
 * Reads a refusal of a request. The error of JSON-RPC in its body is the answer to the request, be the status what it
 * may; anything else is thrown as HttpRefusal.
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
  const said = jsonOf(text);
  const [first = null] = Array.isArray(said) ? said : [said];
  if (!isJsonObject(first)) return null;
  const message = { ...first, jsonrpc: '2.0', id: first['id'] ?? undefined };
  return JSONRPCErrorResponseSchema.safeParse(message).success ? first : null;
}

/** Returns the sentence in a body: that of an error, one under a usual name, or a plain text; of a page none. */
function wordsOf(error: JsonObject | null, text: string): string {
  if (error !== null) return textOf((error['error'] as JsonObject)['message']);
  const said = jsonOf(text);
  if (isJsonObject(said)) {
    const { error_description: described, detail, message, error: plain } = said;
    const nested = isJsonObject(plain) ? plain['message'] : plain;
    const words = [described, detail, message, nested].find((one) => typeof one === 'string');
    if (typeof words === 'string') return words;
  }
  return /^\s*</.test(text) ? '' : text.trim();
}

function jsonOf(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}

/** Returns what a server says of a scope that is missing. */
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

/** Tells whether words say that the session of a request is gone. */
function saysNoSession(words: string, isForeign: boolean, session: string | null): boolean {
  if (isForeign || session === null) return noSession.test(words);
  return noSuchSession.test(words.replaceAll(session, '').replaceAll(/\s+/g, ' '));
}

/** Tells whether an error is about the arguments of a call or what became of it, and not about the way to the server. */
function isOfCall(error: JsonObject | null): boolean {
  const { code } = (error?.['error'] ?? {}) as JsonObject;
  return code === ErrorCode.InvalidParams || code === ErrorCode.InternalError;
}

/** Servers return the number of a request as a text now and then. */
function isSameId(said: unknown, id: unknown): boolean {
  return said === id || (typeof id === 'number' && said === String(id));
}
