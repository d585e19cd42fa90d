import { z } from 'zod';
import { isExactValue } from '../../machines/exact-number.ts';
import type { JsonValue } from '../../machines/json.ts';
import { fieldOf } from './field-of.ts';

const rpcId = z.union([z.string(), z.number(), z.null()]);

const rpcError = z.object({
  code: z.int(),
  message: z.string(),
  data: z.unknown().optional(),
});

export const rpcRefusal = z
  .object({ jsonrpc: z.literal('2.0'), id: rpcId, error: rpcError })
  .meta({ id: 'RpcRefusal' });

const rpcResult = z.object({ jsonrpc: z.literal('2.0'), id: rpcId, result: z.unknown() });

export const rpcAnswer = z.union([rpcResult, rpcRefusal]).meta({ id: 'RpcAnswer' });

/** The ID of a JSON-RPC request; `null` if it could not be read. */
export type RpcId = z.infer<typeof rpcId>;

/** A JSON-RPC 2.0 request. */
export interface RpcRequest {
  /** `null` for a request without an ID, which is validated but never run. */
  id: RpcId;
  method: string;
  params: unknown;
}

/** Codes of JSON-RPC 2.0 and of A2A (docs/contract/transports.md). */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  taskNotFound: -32001,
  contentTypeNotSupported: -32005,
  stepUpRequired: -32040,
  /** A refusal without a code in JSON-RPC or A2A. */
  refused: -32000,
} as const;

/** A JSON-RPC error response. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: JsonValue | undefined;
  /** ID of the refused request, if it could be read. */
  readonly id: RpcId;

  constructor(code: number, message: string, id: RpcId = null, data?: JsonValue) {
    super(message);
    this.code = code;
    this.id = id;
    this.data = data;
  }
}

/** Reads one request, which may have no ID. Throws RpcError -32600 for anything else, including batches. */
export function readRpcRequest(body: unknown): RpcRequest {
  if (Array.isArray(body)) {
    throw new RpcError(rpcCodes.invalidRequest, 'batches are not supported; send one request');
  }
  const id = fieldOf(body, 'id');
  const method = fieldOf(body, 'method');
  const named = typeof id === 'string' || typeof id === 'number' ? id : null;
  if (fieldOf(body, 'jsonrpc') !== '2.0') {
    throw new RpcError(rpcCodes.invalidRequest, 'jsonrpc must be "2.0"', named);
  }
  if (typeof method !== 'string') {
    throw new RpcError(rpcCodes.invalidRequest, 'method must be a string', named);
  }
  if (named === null && id !== undefined) throw noId();
  return { id: named, method, params: fieldOf(body, 'params') };
}

/** Rejects an otherwise valid request without an ID (docs/contract/a2a.md). */
export function noId(): RpcError {
  return new RpcError(rpcCodes.invalidRequest, 'id must be a string or a number');
}

/** Builds the response with the result of a request. */
export function presentResult(id: RpcId, result: unknown): z.input<typeof rpcResult> {
  return { jsonrpc: '2.0', id, result };
}

/** Rejects a request with a number that parsing would change. An ID that is such a number is not echoed. */
export function presentInexact({ message, read }: { message: string; read: JsonValue }): object {
  const id = fieldOf(read, 'id');
  if (typeof id === 'number' && !isExactValue(id)) {
    const text = 'id must be a string or an integer within ±(2^53 - 1)';
    return presentError(new RpcError(rpcCodes.invalidRequest, text), null);
  }
  const named = typeof id === 'string' || typeof id === 'number' ? id : null;
  return presentError(new RpcError(rpcCodes.invalidParams, message), named);
}

/** Builds an error response. */
export function presentError(
  { code, message, data }: RpcError,
  id: RpcId,
): z.input<typeof rpcRefusal> {
  return {
    jsonrpc: '2.0',
    id,
    error: { code, message, ...(data === undefined ? {} : { data }) },
  };
}
