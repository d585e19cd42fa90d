import { EventReader } from './event-reader.ts';

/** An answer with its JSON read; `body` is the text when it is not JSON. */
export interface Answer {
  status: number;
  headers: Headers;
  body: any;
}

interface RequestOptions {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A caller of an agent; its token goes with every request. */
export class AgentClient {
  readonly url: string;
  readonly #token: string | null;

  constructor(url: string, token: string | null) {
    this.url = url;
    this.#token = token;
  }

  /** Sends one request; a body that is no string goes out as JSON. */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const response = await this.open(method, path, options);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: readBody(text) };
  }

  /** Sends one request and resolves with the response, whose body is not read yet. */
  open(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const { body, headers, signal } = options;
    return fetch(this.url + path, {
      method,
      headers: {
        ...(this.#token === null ? {} : { authorization: `Bearer ${this.#token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: bodyOf(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request('GET', path, { headers });
  }

  post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request('POST', path, { body, headers });
  }

  /** Sends a task that plays a script, and resolves when it is answered. */
  send(id: string, script: unknown[], signal?: AbortSignal): Promise<Answer> {
    const body = { task: { id, message: playing(script) } };
    return this.request('POST', '/tasks/send', { body, ...(signal && { signal }) });
  }

  /** Calls a JSON-RPC method. */
  rpc(method: string, params: unknown, id: unknown = 1): Promise<Answer> {
    return this.post('/', { jsonrpc: '2.0', id, method, params });
  }

  decide(id: string, decision: object): Promise<Answer> {
    return this.post(`/tasks/${id}/decisions`, decision);
  }

  /** Opens a stream of events; POSTs the body when there is one. */
  async stream(
    path: string,
    { body, lastEventId }: { body?: unknown; lastEventId?: string } = {},
  ): Promise<EventReader> {
    const abort = new AbortController();
    const response = await fetch(this.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(this.#token === null ? {} : { authorization: `Bearer ${this.#token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
      ...(body === undefined ? {} : { body: bodyOf(body) }),
      signal: abort.signal,
    });
    return new EventReader(response, abort);
  }

  /** Starts a task that plays a script and streams it. */
  subscribe(id: string, script: unknown[]): Promise<EventReader> {
    return this.stream('/tasks/sendSubscribe', { body: { id, message: playing(script) } });
  }
}

/** A message that has the scripted model play these steps. */
export function playing(script: unknown[]): object {
  return { role: 'user', parts: [{ kind: 'data', data: { script } }], messageId: 'm1' };
}

/** A message in words. */
export function saying(text: string): object {
  return { role: 'user', parts: [{ kind: 'text', text }], messageId: 'm1' };
}

function bodyOf(body: unknown): string | Buffer<ArrayBuffer> {
  return typeof body === 'string' || Buffer.isBuffer(body)
    ? (body as string | Buffer<ArrayBuffer>)
    : JSON.stringify(body);
}

function readBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
