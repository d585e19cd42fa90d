import type { SendMessageRequest } from '@a2a-js/sdk';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { fieldOf } from '../wire/field-of.ts';
import { noId } from '../wire/json-rpc.ts';
import { type CallRequest, requestOf } from './call-context.ts';
import { readMessage } from './read-message.ts';
import type { Sdk } from './sdk.ts';

/** The text fields of a push notification config. */
const texts = ['id', 'taskId', 'url', 'token'];

/** The param that names a call's task, by method. */
const taskIds: Record<string, string> = {
  getTask: 'id',
  cancelTask: 'id',
  resubscribe: 'id',
  createTaskPushNotificationConfig: 'taskId',
  getTaskPushNotificationConfig: 'taskId',
  listTaskPushNotificationConfigs: 'taskId',
  deleteTaskPushNotificationConfig: 'taskId',
};

/** Returns the problem of params parsed by the SDK, which does not check types; `null` for valid params. */
export function faultOf({ Role }: Sdk, method: string, params: unknown): string | null {
  const taskId = taskIds[method];
  if (taskId !== undefined && !isNamed(fieldOf(params, taskId))) {
    return 'the id of a task is missing';
  }
  const configuration = fieldOf(params, 'configuration');
  const role = fieldOf(fieldOf(params, 'message'), 'role');
  const roles: unknown[] = [undefined, Role.ROLE_UNSPECIFIED, Role.ROLE_USER, Role.ROLE_AGENT];
  if (!roles.includes(role)) return 'message.role must be user or agent';
  for (const holder of [params, configuration]) {
    if (!isLength(fieldOf(holder, 'historyLength'))) return 'historyLength must be a whole number';
  }
  const isDelete = method === 'deleteTaskPushNotificationConfig';
  if (isDelete && !fieldOf(params, 'id')) return 'the id of a push notification config is missing';
  for (const config of [params, fieldOf(configuration, 'taskPushNotificationConfig')]) {
    const authentication = fieldOf(config, 'authentication');
    const wrong =
      texts.find((name) => !isText(fieldOf(config, name))) ??
      ['scheme', 'credentials'].find((name) => !isText(fieldOf(authentication, name)));
    if (wrong !== undefined) return `${wrong} must be a string`;
  }
  return null;
}

function isNamed(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function isText(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

function isLength(value: unknown): boolean {
  const isWhole = typeof value === 'number' && Number.isInteger(value) && value >= 0;
  return isWhole || value === undefined || value === null;
}

/**
 * Guards an SDK request handler. Rejects params that the SDK reads unchecked. Records on the call's request that the
 * body was read, errors from outside the SDK, and broken streams. Ends a broken stream without an error, which the SDK
 * would print.
 */
export function guardedHandler(sdk: Sdk, handler: A2ARequestHandler): A2ARequestHandler {
  return new Proxy(handler, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return (params: unknown, context?: ServerCallContext): unknown => {
        if (context === undefined) return method.call(target, params) as unknown;
        const request = requestOf(context);
        request.isRead = true;
        const fault = faultOf(sdk, String(name), params);
        if (fault !== null) throw new sdk.RequestMalformedError(fault);
        if (request.isUnasked === true) throw unasked(sdk, request, String(name), params);
        const answer: unknown = method.call(target, params, context);
        const note = (error: unknown) => noted(sdk, request, error);
        return isStream(answer)
          ? guardedStream(answer, request, note)
          : Promise.resolve(answer).catch((error: unknown) => Promise.reject(note(error)));
      };
    },
  });
}

/** Returns the error of a call without an ID: the fault of its message, else the missing ID. */
function unasked(sdk: Sdk, request: CallRequest, method: string, params: unknown): Error {
  try {
    if (method === 'sendMessage' || method === 'sendMessageStream') {
      readMessage(sdk, params as SendMessageRequest, () => 'm');
    }
    request.refusal = noId();
    return request.refusal;
  } catch (error) {
    return new sdk.RequestMalformedError((error as Error).message);
  }
}

async function* guardedStream(
  events: AsyncIterable<unknown>,
  request: CallRequest,
  note: (error: unknown) => Error,
): AsyncGenerator<unknown, void, undefined> {
  let hasBegun = false;
  try {
    for await (const event of events) {
      hasBegun = true;
      yield event;
    }
  } catch (error) {
    const known = note(error);
    if (!hasBegun) throw known;
    request.lost = request.refusal instanceof Error ? request.refusal : known;
  }
}

function noted({ A2AError }: Sdk, request: CallRequest, thrown: unknown): Error {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  if (!(error instanceof A2AError)) request.refusal ??= error;
  return error;
}

function isStream(answer: unknown): answer is AsyncIterable<unknown> {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
}
