import type { JsonObject } from '../../machines/json.ts';
import { problemOf } from '../middleware/handle-errors.ts';
import { failCall } from '../middleware/trace-request.ts';
import type { RoutedContext } from '../request-state.ts';
import { fieldOf } from '../wire/field-of.ts';
import { presentError, RpcError, type RpcId, rpcCodes } from '../wire/json-rpc.ts';
import { type A2aVersion, versionOf } from './a2a-versions.ts';
import { type CallRequest, callContext, callRequest, transportRefusal } from './call-context.ts';
import { compatParams } from './compat-params.ts';
import { guardedHandler } from './guarded-handler.ts';
import { loadSdk, type Sdk } from './sdk.ts';
import { streamEvents } from './stream-events.ts';
import { TaskHandler, type TaskHandlerPorts } from './task-handler.ts';

/** A JSON-RPC request with a parsed envelope. */
export interface RpcCall {
  id: RpcId;
  method: string;
  body: JsonObject;
}

/**
 * Answers a call in any A2A version, including unknown ones. Resolves once the answer is complete or its stream has
 * begun.
 */
export type A2aCalls = (ctx: RoutedContext, call: RpcCall, version: string) => Promise<void>;

/** Answers JSON-RPC calls of A2A 0.3.0 and 1.0 through the SDK (docs/contract/a2a.md). */
export function a2aCalls(ports: TaskHandlerPorts): A2aCalls {
  let loading: ReturnType<typeof load> | null = null;
  return async function answerCall(ctx, call, version) {
    loading ??= load(ports);
    const { sdk, handler, transports } = await loading;
    const request = { ...callRequest(ctx, null), isUnasked: call.id === null };
    const wire = wireOf(call, version);
    const tell = (error: unknown) => ({
      jsonrpc: '2.0',
      id: call.id,
      error: wire === '1.0' ? sdk.toJsonRpcError(error) : sdk.toCompatError(error),
    });
    let answer: object;
    try {
      sdk.validateVersion(version, await handler.getAgentCard(), 'JSONRPC');
      const body = wire === '1.0' ? call.body : compatBody(call);
      // The SDK rejects calls without an ID.
      const asked = request.isUnasked ? { ...body, id: 0 } : body;
      answer = await transports[wire].handle(asked, callContext(sdk, request, version));
    } catch (error) {
      if (!(error instanceof sdk.A2AError)) throw error;
      answer = tell(error);
    }
    if (call.method === 'agent/getAuthenticatedExtendedCard' && 'result' in answer) {
      // The SDK derives a 0.3 card from a 1.0 card, and the conversion loses the fields that exist only in 0.3.
      const card = ports.card.current('0.3.0');
      answer = { ...answer, result: JSON.parse(String(card?.body)) as object };
    }
    if (Symbol.asyncIterator in answer) {
      const events = answer as AsyncGenerator<object, void, undefined>;
      const tellLost = () => presentLost(request, call);
      if (await streamEvents(ctx, { events, tell, tellLost })) return;
      answer = ctx.body as object;
    }
    if (request.gone.aborted) ctx.respond = false;
    else present(ctx, call, settled(sdk, request, call, answer, tell));
  };
}

async function load(ports: TaskHandlerPorts) {
  const sdk = await loadSdk();
  const handler = guardedHandler(sdk, new TaskHandler(sdk, ports));
  const transports = {
    '0.3': new sdk.LegacyJsonRpcTransportHandler(handler),
    '1.0': new sdk.JsonRpcTransportHandler(handler),
  };
  return { sdk, handler, transports };
}

/** Selects the format of the answer: the named version, else the version that has the method. */
function wireOf({ method }: RpcCall, version: string): A2aVersion {
  return version === '0.3' || version === '1.0' ? version : (versionOf(method) ?? '0.3');
}

function compatBody(call: RpcCall): Record<string, unknown> {
  if (!('params' in call.body)) return call.body;
  return {
    ...call.body,
    params: compatParams(call.body['params'], call.method === 'message/send'),
  };
}

/**
 * Translates errors unknown to the SDK. A challenge has its own code, other refusals are thrown as transport answers,
 * and invalid params are not reported as a defect.
 */
function settled(
  sdk: Sdk,
  request: CallRequest,
  { id, method }: RpcCall,
  answer: object,
  tell: (error: unknown) => object,
): object {
  const { refusal, isRead } = request;
  const refused = transportRefusal(request);
  if (refused !== null) throw refused;
  if (refusal !== undefined && 'rpc' in refusal) return presentError(refusal.rpc, id);
  if (codeOf(answer) !== rpcCodes.internalError) return answer;
  if (isRead) throw new Error(`the A2A SDK could not write its answer to ${method}`);
  return tell(new sdk.RequestMalformedError(`the params are not what ${method} takes`));
}

function present(ctx: RoutedContext, { id }: RpcCall, answer: object): void {
  const code = codeOf(answer);
  if (code !== undefined) failCall(ctx, code === rpcCodes.methodNotFound);
  ctx.body = id === null ? { ...answer, id } : answer;
}

/** Returns no details of a defect. For a broken stream, tells the caller to reconnect. */
function presentLost({ lost }: CallRequest, { id }: RpcCall): object | null {
  if (lost === undefined) return null;
  return presentError(new RpcError(rpcCodes.internalError, problemOf(lost).body.error), id);
}

function codeOf(answer: object): unknown {
  return fieldOf(fieldOf(answer, 'error'), 'code');
}
