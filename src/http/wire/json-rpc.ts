import { isExactValue } from '../../machines/exact-number.ts';
import type { JsonValue } from '../../machines/json.ts';
import { fieldOf } from './field-of.ts';

/** The identifier a caller gives a JSON-RPC request; `null` when it could not be read. */
export type RpcId = string | number | null;

/** A request as JSON-RPC 2.0 defines it. */
export interface RpcRequest {
  /** `null` for a request without one, which is validated and never run. */
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
  /** A refusal that neither JSON-RPC nor A2A has a code for. */
  refused: -32000,
} as const;

/** A refusal in the words of JSON-RPC. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: JsonValue | undefined;
  /** The request that is refused, when it could be read. */
  readonly id: RpcId;

  constructor(code: number, message: string, id: RpcId = null, data?: JsonValue) {
    super(message);
    this.code = code;
    this.id = id;
    this.data = data;
  }
}

/** Reads one request, which may have no id. Throws RpcError -32600 for anything else, batches included. */
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

/** Refuses a request that has no id, once there is nothing else to say against it (docs/contract/a2a.md). */
export function noId(): RpcError {
  return new RpcError(rpcCodes.invalidRequest, 'id must be a string or a number');
}

/** Presents the result of a request. */
export function presentResult(id: RpcId, result: unknown): object {
  return { jsonrpc: '2.0', id, result };
}

/** Refuses a request for a number that reading would change; an id that is such a number is not repeated. */
export function presentInexact({ message, read }: { message: string; read: JsonValue }): object {
  const id = fieldOf(read, 'id');
  if (typeof id === 'number' && !isExactValue(id)) {
    const text = 'id must be a string or an integer within ±(2^53 - 1)';
    return presentError(new RpcError(rpcCodes.invalidRequest, text), null);
  }
  const named = typeof id === 'string' || typeof id === 'number' ? id : null;
  return presentError(new RpcError(rpcCodes.invalidParams, message), named);
}

/** Presents a refusal. */
export function presentError({ code, message, data }: RpcError, id: RpcId): object {
  return {
    jsonrpc: '2.0',
    id,
    error: { code, message, ...(data === undefined ? {} : { data }) },
  };
}
