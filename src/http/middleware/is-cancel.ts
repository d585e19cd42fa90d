import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { mcpPath } from '../mcp/mcp-path.ts';
import { jsonFault, measureBody } from '../wire/json-fault.ts';
import { readRpcRequest } from '../wire/json-rpc.ts';

/** Maximum size in bytes of an inspected body; no cancel request is longer. */
const longestPeek = 64 * 1024;

/** Cancel paths on the three REST surfaces. */
const cancelPath = /^(\/tasks\/[^/]+\/cancel|\/(v1|a2a)\/tasks\/[^/]+:cancel)\/?$/;

/** Paths of JSON-RPC. */
const rpcPaths: ReadonlySet<string> = new Set(['/', mcpPath]);

/** JSON-RPC methods of a cancel: legacy, A2A 0.3.0 and MCP, A2A 1.0. */
const cancelMethods: ReadonlySet<string> = new Set(['tasks/cancel', 'CancelTask']);

/**
 * Returns true if a request cancels a task, according to its path or JSON-RPC method. The body stays readable
 * afterwards. A long, compressed, malformed or batched body, or a body of unknown length, never counts as a cancel.
 */
export async function isCancel(ctx: Context): Promise<boolean> {
  if (ctx.method !== 'POST') return false;
  if (!rpcPaths.has(ctx.path)) return cancelPath.test(ctx.path);
  const length = ctx.request.length ?? 0;
  const isReadable =
    length > 0 &&
    length <= longestPeek &&
    ctx.get('Transfer-Encoding') === '' &&
    ctx.get('Content-Encoding') === '' &&
    ctx.is('application/json') !== false;
  if (!isReadable) return false;
  const body = await peek(ctx.req, length);
  return body !== null && isCancelRequest(body.toString('utf8'));
}

function isCancelRequest(body: string): boolean {
  if (jsonFault(measureBody(body)) !== null) return false;
  try {
    const { id, method } = readRpcRequest(JSON.parse(body));
    return id !== null && cancelMethods.has(method);
  } catch {
    return false;
  }
}

/** Reads `length` bytes and puts them back; `null` if the client disconnects first. */
function peek(request: IncomingMessage, length: number): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let received = 0;
    const look = (): void => {
      for (let chunk = read(request); chunk !== null; chunk = read(request)) {
        chunks.push(chunk);
        received += chunk.length;
        if (received < length) continue;
        const body = Buffer.concat(chunks);
        // Must run in the same turn: after the `end` event nothing can be put back.
        request.unshift(body);
        return leave(body);
      }
    };
    const gone = (): void => leave(null);
    const leave = (body: Buffer | null): void => {
      request.off('readable', look).off('close', gone).off('error', gone);
      resolve(body);
    };
    request.on('readable', look).on('close', gone).on('error', gone);
    if (request.destroyed) gone();
  });
}

function read(request: IncomingMessage): Buffer | null {
  return request.read() as Buffer | null;
}
