import { randomUUID } from 'node:crypto';
import type { AgentClient, Answer } from '../../helpers/agent-client.ts';
import { EventReader } from '../../helpers/event-reader.ts';

/** What can be asked of an agent on every surface of A2A. */
export type Operation =
  | 'send'
  | 'stream'
  | 'get'
  | 'cancel'
  | 'subscribe'
  | 'setPush'
  | 'getPush'
  | 'listPush'
  | 'deletePush'
  | 'card';

/** What a request is about; each surface puts it where it belongs. */
export interface Asked {
  message?: object;
  configuration?: object;
  id?: unknown;
  historyLength?: unknown;
  config?: object;
  configId?: unknown;
  headers?: Record<string, string>;
  /** A placeholder for the params of a call or the body of a request. */
  params?: unknown;
}

/** A request as it goes over the wire. */
export interface WireRequest {
  method: string;
  path: string;
  body?: unknown;
}

/** One of the four wires of A2A, without the SDK. */
export interface WireSurface {
  name: string;
  version: '0.3' | '1.0';
  isRpc: boolean;
  /** What the span of an operation is called after. */
  methods: Record<Operation, string>;
  request(operation: Operation, asked: Asked): WireRequest;
  /** A message that has the scripted model play these steps. */
  playing(script: object[]): object;
  saying(text: string): object;
  /** The answer that refuses. */
  refusal(code: number, message: unknown): { status: number; body: unknown };
  /** The task of a send that was answered. */
  taskOf(answer: Pick<Answer, 'body'>): any;
  /** The task, the status and the artifact that an event of a stream brings. */
  resultOf(data: any): any;
  /** A state as the surface names it. */
  state(name: string): string;
}

const methods03: Record<Operation, string> = {
  send: 'message/send',
  stream: 'message/stream',
  get: 'tasks/get',
  cancel: 'tasks/cancel',
  subscribe: 'tasks/resubscribe',
  setPush: 'tasks/pushNotificationConfig/set',
  getPush: 'tasks/pushNotificationConfig/get',
  listPush: 'tasks/pushNotificationConfig/list',
  deletePush: 'tasks/pushNotificationConfig/delete',
  card: 'agent/getAuthenticatedExtendedCard',
};

const methods10: Record<Operation, string> = {
  send: 'SendMessage',
  stream: 'SendStreamingMessage',
  get: 'GetTask',
  cancel: 'CancelTask',
  subscribe: 'SubscribeToTask',
  setPush: 'CreateTaskPushNotificationConfig',
  getPush: 'GetTaskPushNotificationConfig',
  listPush: 'ListTaskPushNotificationConfigs',
  deletePush: 'DeleteTaskPushNotificationConfig',
  card: 'GetExtendedAgentCard',
};

/** Every code, with its reason and what REST makes of it. */
const reasons: Record<number, [reason: string, status: number, statusName: string]> = {
  [-32602]: ['INVALID_PARAMS', 400, 'INVALID_ARGUMENT'],
  [-32001]: ['TASK_NOT_FOUND', 404, 'NOT_FOUND'],
  [-32002]: ['TASK_NOT_CANCELABLE', 400, 'FAILED_PRECONDITION'],
  [-32004]: ['UNSUPPORTED_OPERATION', 400, 'FAILED_PRECONDITION'],
  [-32005]: ['CONTENT_TYPE_NOT_SUPPORTED', 400, 'INVALID_ARGUMENT'],
  [-32009]: ['VERSION_NOT_SUPPORTED', 400, 'FAILED_PRECONDITION'],
};

const part03 = (part: object) => ({ kind: Object.keys(part)[0], ...part });
const message03 = (part: object) => ({
  kind: 'message',
  role: 'user',
  messageId: randomUUID(),
  parts: [part03(part)],
});
const message10 = (part: object) => ({ role: 'ROLE_USER', messageId: randomUUID(), parts: [part] });
const state10 = (name: string) => `TASK_STATE_${name.toUpperCase().replaceAll('-', '_')}`;

const rpc03: WireSurface = {
  name: 'JSON-RPC 0.3.0',
  version: '0.3',
  isRpc: true,
  methods: methods03,
  request(operation, { message, configuration, id, historyLength, config, configId, params }) {
    const pushed = { id, pushNotificationConfigId: configId };
    const own: Partial<Record<Operation, object>> = {
      send: { message, configuration },
      stream: { message, configuration },
      setPush: { taskId: id, pushNotificationConfig: config },
      getPush: pushed,
      deletePush: pushed,
    };
    return call(methods03[operation], params, own[operation] ?? { id, historyLength });
  },
  playing: (script) => message03({ data: { script } }),
  saying: (text) => message03({ text }),
  refusal: (code, message) => ({
    status: 200,
    body: { jsonrpc: '2.0', id: 1, error: { code, message } },
  }),
  taskOf: ({ body }) => body.result,
  resultOf: (data) => data.result,
  state: (name) => name,
};

const rpc10: WireSurface = {
  name: 'JSON-RPC 1.0',
  version: '1.0',
  isRpc: true,
  methods: methods10,
  request(operation, { message, configuration, id, historyLength, config, configId, params }) {
    const own: Partial<Record<Operation, object>> = {
      send: { message, configuration },
      stream: { message, configuration },
      setPush: { taskId: id, ...config },
      getPush: { taskId: id, id: configId },
      deletePush: { taskId: id, id: configId },
      listPush: { taskId: id },
    };
    return call(methods10[operation], params, own[operation] ?? { id, historyLength });
  },
  playing: (script) => message10({ data: { script } }),
  saying: (text) => message10({ text }),
  refusal: (code, message) => ({
    status: 200,
    body: { jsonrpc: '2.0', id: 1, error: { code, message, data: [errorInfo(code)] } },
  }),
  taskOf: ({ body }) => body.result.task ?? body.result,
  resultOf: (data) => data.result,
  state: state10,
};

const rest03: WireSurface = {
  name: 'HTTP+JSON 0.3.0',
  version: '0.3',
  isRpc: false,
  methods: methods03,
  request: (operation, asked) =>
    restRequest('/v1', operation, asked, {
      name: `tasks/${String(asked.id)}`,
      pushNotificationConfig: asked.config,
    }),
  playing: (script) => contentOf({ data: { data: { script } } }),
  saying: (text) => contentOf({ text }),
  refusal: (code, message) => ({ status: reasonOf(code)[1], body: { code, message } }),
  taskOf: ({ body }) => body.task ?? body,
  resultOf: (data) => data,
  // The protocol of that time wrote the word in another way.
  state: (name) => state10(name.replace('canceled', 'cancelled')),
};

const rest10: WireSurface = {
  name: 'HTTP+JSON 1.0',
  version: '1.0',
  isRpc: false,
  methods: methods10,
  request: (operation, asked) => restRequest('/a2a', operation, asked, asked.config),
  playing: (script) => message10({ data: { script } }),
  saying: (text) => message10({ text }),
  refusal(code, message) {
    const [, status, statusName] = reasonOf(code);
    const error = { code: status, status: statusName, message, details: [errorInfo(code)] };
    return { status, body: { error } };
  },
  taskOf: ({ body }) => body.task ?? body,
  resultOf: (data) => data,
  state: state10,
};

/** The four wires. */
export const wireSurfaces: readonly WireSurface[] = [rpc03, rpc10, rest03, rest10];

/** Asks for something on a surface. */
export function ask(
  client: AgentClient,
  surface: WireSurface,
  operation: Operation,
  asked: Asked,
): Promise<Answer> {
  const { method, path, body } = surface.request(operation, asked);
  return client.request(method, path, {
    ...(body === undefined ? {} : { body }),
    headers: headersOf(surface, asked),
  });
}

/** Two methods of 0.3.0 have the names of legacy ones, and say which they are. */
export function headersOf({ name }: WireSurface, { headers }: Asked = {}): Record<string, string> {
  return { ...(name === 'JSON-RPC 0.3.0' ? { 'A2A-Version': '0.3' } : {}), ...headers };
}

/** Opens a stream on a surface. */
export async function openStream(
  client: AgentClient,
  surface: WireSurface,
  operation: 'stream' | 'subscribe',
  asked: Asked,
): Promise<EventReader> {
  const { method, path, body } = surface.request(operation, asked);
  const abort = new AbortController();
  const response = await fetch(client.url + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headersOf(surface, asked),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: abort.signal,
  });
  return new EventReader(response, abort);
}

/** What a refusal at the door is called on the surfaces of A2A: its code of JSON-RPC, its name in gRPC. */
const doorCodes: Record<number, [code: number, status: string]> = {
  400: [-32600, 'INVALID_ARGUMENT'],
  401: [-32000, 'UNAUTHENTICATED'],
  402: [-32000, 'RESOURCE_EXHAUSTED'],
  403: [-32000, 'PERMISSION_DENIED'],
  404: [-32000, 'NOT_FOUND'],
  405: [-32000, 'UNIMPLEMENTED'],
  408: [-32000, 'DEADLINE_EXCEEDED'],
  409: [-32000, 'ABORTED'],
  413: [-32600, 'INVALID_ARGUMENT'],
  415: [-32005, 'INVALID_ARGUMENT'],
  417: [-32600, 'INVALID_ARGUMENT'],
  429: [-32000, 'RESOURCE_EXHAUSTED'],
  431: [-32600, 'INVALID_ARGUMENT'],
  503: [-32603, 'UNAVAILABLE'],
};

/**
 * The answer that refuses at the door, which says on the legacy surface what is `said`. A call whose body has been
 * read is answered under its id.
 */
export function refusedAtDoor(
  { isRpc }: Pick<WireSurface, 'isRpc'>,
  status: number,
  said: { error: string; message?: unknown; [key: string]: unknown },
  id: number | null = null,
): { status: number; body: unknown } {
  const [code, name] = doorCodes[status] ?? [];
  const message = said.message ?? said.error;
  const isMore = Object.keys(said).length > 1;
  const data = isMore ? { data: said } : {};
  if (isRpc) {
    const beside = status === 402 ? said : {};
    return { status, body: { ...beside, jsonrpc: '2.0', id, error: { code, message, ...data } } };
  }
  const own = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: /^[a-z_]+$/.test(said.error) ? said.error.toUpperCase() : name,
    domain: 'holdpoint',
    metadata: said,
  };
  const details = status === 415 ? [errorInfo(-32005)] : isMore ? [own] : null;
  const error = { code: status, status: name, message, ...(details && { details }) };
  return { status, body: { error } };
}

function call(method: string, params: unknown, own: object): WireRequest {
  return {
    method: 'POST',
    path: '/',
    body: { jsonrpc: '2.0', id: 1, method, params: params === undefined ? own : params },
  };
}

function restRequest(
  base: string,
  operation: Operation,
  { message, configuration, id, historyLength, configId, params }: Asked,
  config: object | undefined,
): WireRequest {
  const task = `${base}/tasks/${String(id)}`;
  const configs = `${task}/pushNotificationConfigs`;
  const length = historyLength === undefined ? '' : `?historyLength=${String(historyLength)}`;
  const body = params === undefined ? { message, configuration } : params;
  const requests: Record<Operation, WireRequest> = {
    send: { method: 'POST', path: `${base}/message:send`, body },
    stream: { method: 'POST', path: `${base}/message:stream`, body },
    get: { method: 'GET', path: task + length },
    cancel: { method: 'POST', path: `${task}:cancel`, body: {} },
    subscribe: { method: 'GET', path: `${task}:subscribe` },
    setPush: { method: 'POST', path: configs, body: params ?? config },
    getPush: { method: 'GET', path: `${configs}/${String(configId)}` },
    listPush: { method: 'GET', path: configs },
    deletePush: { method: 'DELETE', path: `${configs}/${String(configId)}` },
    card: { method: 'GET', path: `${base}/${base === '/v1' ? 'card' : 'extendedAgentCard'}` },
  };
  return requests[operation];
}

function contentOf(part: object): object {
  return { role: 'ROLE_USER', messageId: randomUUID(), content: [part] };
}

function errorInfo(code: number): object {
  return {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: reasonOf(code)[0],
    domain: 'a2a-protocol.org',
  };
}

function reasonOf(code: number): [reason: string, status: number, statusName: string] {
  const known = reasons[code];
  if (known === undefined) throw new Error(`no reason is known for ${code}`);
  return known;
}
