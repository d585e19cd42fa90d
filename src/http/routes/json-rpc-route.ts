import { SystemError } from '../../actors/system-error.ts';
import type { JsonObject, JsonValue } from '../../machines/json.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import type { A2aCalls } from '../a2a/a2a-calls.ts';
import { readVersion, versionOf } from '../a2a/a2a-versions.ts';
import { partFault } from '../a2a/part-fault.ts';
import { awaitTask } from '../await-task.ts';
import { InexactBody, readJson } from '../middleware/read-json.ts';
import { failCall, nameSpan } from '../middleware/trace-request.ts';
import { openTask } from '../open-task.ts';
import { rpcRequest } from '../openapi/a2a-schemas.ts';
import { eventStream, json } from '../openapi/operation.ts';
import type { RoutedContext } from '../request-state.ts';
import { calledInvocation } from '../wire/admission.ts';
import { readCancelReason } from '../wire/cancel-reason.ts';
import { challengeOf } from '../wire/challenge.ts';
import { fieldOf } from '../wire/field-of.ts';
import {
  noId,
  presentError,
  presentInexact,
  presentResult,
  RpcError,
  type RpcRequest,
  readRpcRequest,
  rpcAnswer,
  rpcCodes,
} from '../wire/json-rpc.ts';
import { Problem } from '../wire/problem.ts';
import { presentTask } from '../wire/task.ts';
import { readSubmission } from '../wire/task-request.ts';
import { a2aVersion } from './agent-card-routes.ts';
import type { Routes } from './route.ts';
import { type SubscribePorts, subscribe } from './tasks-subscribe.ts';

/** A method of the legacy surface. */
interface Method {
  /** Validates the params without side effects; throws for invalid ones. */
  checkParams: (params: unknown) => unknown;
  /** Returns the result, or `undefined` if the method writes the response itself. */
  run: (ctx: RoutedContext, params: unknown) => unknown;
}

export interface JsonRpcPorts extends SubscribePorts {
  /** Answers the methods of A2A 0.3.0 and 1.0. */
  a2a: A2aCalls;
}

/** The route of JSON-RPC 2.0, with the same functions as the REST routes. */
export const rpcRoutes = (ports: JsonRpcPorts): Routes => ({
  'POST /': {
    id: 'callMethod',
    tag: 'a2a',
    says: 'Answers JSON-RPC 2.0: the methods of A2A 0.3.0 and 1.0, and tasks/send and tasks/sendSubscribe; those that stream answer with events.',
    parameters: [a2aVersion],
    body: {
      schema: rpcRequest,
      types: [json],
      example: {
        jsonrpc: '2.0',
        id: 1,
        method: 'message/send',
        params: {
          message: {
            kind: 'message',
            role: 'user',
            messageId: 'm1',
            parts: [{ kind: 'text', text: 'Refund A-1042' }],
          },
        },
      },
    },
    answers: {
      200: {
        says: 'The result, an error inside JSON-RPC, or a stream of either.',
        content: { [json]: rpcAnswer, [eventStream]: null },
      },
    },
    form: 'rpc',
    before: [answerParseError(), readJson(), nameSpan()],
    admits: calledInvocation,
    answer: jsonRpc(ports),
  },
});

function jsonRpc(ports: JsonRpcPorts) {
  const methods = legacyMethods(ports);
  return async function call(ctx: RoutedContext) {
    let request: RpcRequest | null = null;
    try {
      if (ctx.request.body === undefined) throw emptyBody();
      request = readRpcRequest(ctx.request.body);
      const version = await versionFor(ctx, request);
      if (version !== null) {
        const fault = partFault(request.params);
        if (fault !== null) throw new RpcError(rpcCodes.invalidParams, fault);
        return await ports.a2a(ctx, { ...request, body: ctx.request.body as JsonObject }, version);
      }
      const method = methods.get(request.method);
      if (method === undefined) {
        throw new RpcError(rpcCodes.methodNotFound, `unknown method: ${request.method}`);
      }
      if (request.id === null) {
        method.checkParams(request.params);
        throw noId();
      }
      const result = await method.run(ctx, request.params);
      if (result !== undefined) ctx.body = presentResult(request.id, result);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === null) throw error;
      failCall(ctx, refusal.code === rpcCodes.methodNotFound);
      ctx.body = presentError(refusal, request?.id ?? refusal.id);
    }
  };
}

/**
 * Returns the A2A version in which a call is answered; `null` for a legacy call. `tasks/get` and `tasks/cancel` exist
 * on two surfaces with the same name. Without `A2A-Version`, the surface that started the task is used.
 */
async function versionFor(ctx: RoutedContext, call: RpcRequest): Promise<string | null> {
  const said = readVersion(ctx.get('A2A-Version'));
  const version = versionOf(call.method);
  if (version === null || said !== '') return version === null ? null : said;
  if (call.method !== 'tasks/get' && call.method !== 'tasks/cancel') return version;
  const id = fieldOf(call.params, 'id');
  const task = isTaskId(id) ? await ctx.state.tasks.find(id) : undefined;
  return task?.surface === 'a2a' ? version : null;
}

/** Answers an unreadable body with a JSON-RPC error (docs/contract/transports.md). */
export function answerParseError() {
  return async function parseErrorAnswer(ctx: RoutedContext, next: () => Promise<unknown>) {
    try {
      await next();
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 400) throw error;
      failCall(ctx, true);
      if (error instanceof InexactBody) {
        ctx.body = presentInexact(error);
        return;
      }
      const message = `parse error: ${error.message}`;
      ctx.body = presentError(new RpcError(rpcCodes.parseError, message), null);
    }
  };
}

/** Creates the methods of the legacy surface, by name. */
export function legacyMethods(ports: SubscribePorts): ReadonlyMap<string, Method> {
  const checkSubmission = (params: unknown): unknown =>
    readSubmission(params, () => ports.ids.next());
  return new Map<string, Method>([
    [
      'tasks/send',
      {
        checkParams: checkSubmission,
        async run(ctx, params) {
          const task = await awaitTask(ctx, await openTask(ports, ctx, params));
          if (task === null) {
            ctx.respond = false;
            return undefined;
          }
          const challenge = challengeOf(task);
          if (challenge !== null) throw challenge.rpc;
          return presentTask(task);
        },
      },
    ],
    [
      'tasks/sendSubscribe',
      { checkParams: checkSubmission, run: (ctx, params) => subscribe(ports, ctx, params) },
    ],
    [
      'tasks/get',
      {
        checkParams: (params) => [readTaskId(params), readLength(params)],
        async run({ state }, params) {
          const task = await state.tasks.find(readTaskId(params));
          if (task === undefined) throw taskNotFound();
          return presentTask(task, {
            historyLength: readLength(params),
            withDecisions: fieldOf(params, 'decisions') === true,
          });
        },
      },
    ],
    [
      'tasks/cancel',
      {
        checkParams: readTaskId,
        async run({ state }, params) {
          const task = await state.tasks.cancel(readTaskId(params), readCancelReason(params));
          if (task === undefined) throw taskNotFound();
          return presentTask(task);
        },
      },
    ],
  ]);
}

/** Returns the JSON-RPC error for an error; `null` for errors that the transport answers. */
function refusalOf(error: unknown): RpcError | null {
  if (error instanceof RpcError) return error;
  if (error instanceof SystemError && error.code === 'unknown_task') return taskNotFound();
  const isRefused =
    (error instanceof Problem && error.status === 400) ||
    (error instanceof SystemError && error.code === 'task_running');
  return isRefused ? new RpcError(rpcCodes.invalidParams, error.message) : null;
}

function emptyBody(): RpcError {
  return new RpcError(rpcCodes.parseError, 'parse error: the body is empty');
}

function readTaskId(params: unknown): string {
  const id: unknown = fieldOf(params, 'id');
  if (isTaskId(id)) return id;
  throw new RpcError(rpcCodes.invalidParams, 'params.id must be the id of a task');
}

function readLength(params: unknown): number | undefined {
  const length: unknown = fieldOf(params, 'historyLength');
  if (length === undefined || length === null) return undefined;
  if (typeof length === 'number' && Number.isInteger(length) && length >= 0) return length;
  throw new RpcError(rpcCodes.invalidParams, 'params.historyLength must be a whole number');
}

function taskNotFound(): RpcError {
  const data: JsonValue = { error: 'task not found' };
  return new RpcError(rpcCodes.taskNotFound, 'task not found', null, data);
}
