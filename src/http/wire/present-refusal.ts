import { z } from 'zod';
import type { JsonValue } from '../../machines/json.ts';
import { fieldOf } from './field-of.ts';
import { presentError, RpcError, type RpcId, rpcCodes } from './json-rpc.ts';
import { type Problem, type Said, textsOf, uncoded } from './problem.ts';

/** The error formats of AIP-193 and of A2A 0.3.0. */
export const statusRefusal = z
  .union([
    z.object({
      error: z.looseObject({ code: z.int(), status: z.string(), message: z.string() }),
    }),
    z.looseObject({ code: z.int(), message: z.string() }),
  ])
  .meta({ id: 'StatusRefusal' });

/** The known parts of a refused request. */
export interface RefusedRequest {
  method: string;
  /** The original path without its query. */
  path: string;
  /** The part of the body that has been read. */
  body?: unknown;
}

/** gRPC status names by HTTP status (AIP-193). */
const statusNames: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [402, 'RESOURCE_EXHAUSTED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [405, 'UNIMPLEMENTED'],
  [408, 'DEADLINE_EXCEEDED'],
  [409, 'ABORTED'],
  [413, 'INVALID_ARGUMENT'],
  [415, 'INVALID_ARGUMENT'],
  [417, 'INVALID_ARGUMENT'],
  [429, 'RESOURCE_EXHAUSTED'],
  [431, 'INVALID_ARGUMENT'],
  [500, 'INTERNAL'],
  [501, 'UNIMPLEMENTED'],
  [502, 'UNAVAILABLE'],
  [503, 'UNAVAILABLE'],
]);

/** JSON-RPC codes by HTTP status; -32000 is a generic server refusal. */
const codes: ReadonlyMap<number, number> = new Map([
  [400, rpcCodes.invalidRequest],
  [413, rpcCodes.invalidRequest],
  [415, rpcCodes.contentTypeNotSupported],
  [417, rpcCodes.invalidRequest],
  [431, rpcCodes.invalidRequest],
  [500, rpcCodes.internalError],
  [503, rpcCodes.internalError],
]);

/** Legacy methods of `POST /`. Their refusals have the same body as on the REST routes. */
const documented: ReadonlySet<unknown> = new Set(['tasks/send', 'tasks/sendSubscribe']);

/** Maximum length of an ID in a refusal. Refusals must be short, because they are not counted as unread bytes. */
const longestId = 1_024;

const aipPath = /^\/(v1|a2a)(\/|$)/;

/**
 * Formats a refusal for the called surface (docs/contract/a2a.md): an AIP-193 error below `/v1` and `/a2a`, a JSON-RPC
 * error at `POST /` and `POST /acs`, and the unchanged body elsewhere. Fields in addition to the message are in `details` of the
 * AIP-193 error and in `data` of the JSON-RPC error.
 */
export function presentRefusal(
  { status, body }: Pick<Problem, 'status' | 'body'>,
  { method, path, body: sent }: RefusedRequest,
): object {
  const said = uncoded(body);
  if (aipPath.test(path)) return aipError(status, said);
  const isCall = method === 'POST' && (path === '/' || path === '/acs');
  return isCall && !documented.has(fieldOf(sent, 'method')) ? rpcError(status, said, sent) : body;
}

/** The fields of the error besides its code and message. */
interface ErrorInfo {
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo';
  reason: string;
  domain: string;
  metadata?: Record<string, string>;
}

function aipError(code: number, body: Said): z.input<typeof statusRefusal> {
  const status = statusNames.get(code) ?? 'UNKNOWN';
  const info = errorInfo(code, body);
  const details = info === null ? {} : { details: [info] };
  return { error: { code, status, message: sentenceOf(body), ...details } };
}

function errorInfo(status: number, body: Said): ErrorInfo | null {
  const type = 'type.googleapis.com/google.rpc.ErrorInfo';
  if (status === 415) {
    return { '@type': type, reason: 'CONTENT_TYPE_NOT_SUPPORTED', domain: 'a2a-protocol.org' };
  }
  if (!saysMore(body)) return null;
  const reason = isWord(body.error) ? body.error.toUpperCase() : statusNames.get(status);
  return {
    '@type': type,
    reason: reason ?? 'UNKNOWN',
    domain: 'holdpoint',
    metadata: textsOf(body),
  };
}

function rpcError(status: number, body: Said, sent: unknown): object {
  const code = codes.get(status) ?? rpcCodes.refused;
  const data: [] | [JsonValue] = saysMore(body) ? [body] : [];
  const refusal = presentError(new RpcError(code, sentenceOf(body), null, ...data), idOf(sent));
  // A denial always has its five keys (docs/contract/admission.md).
  return status === 402 ? { ...body, ...refusal } : refusal;
}

/** Returns the message of a body. In some bodies, `error` is a machine-readable code. */
function sentenceOf({ error, message }: Said): string {
  return typeof message === 'string' ? message : error;
}

function saysMore(body: Said): boolean {
  return Object.keys(body).length > 1;
}

function isWord(error: string): boolean {
  return /^[a-z_]+$/.test(error);
}

function idOf(sent: unknown): RpcId {
  const id = fieldOf(sent, 'id');
  if (typeof id === 'string') return id.length > longestId ? null : id;
  return typeof id === 'number' ? id : null;
}
