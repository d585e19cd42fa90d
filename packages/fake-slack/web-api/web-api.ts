import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../../src/actors/ports/clock.ts';
import type { JsonObject } from '../../../src/machines/json.ts';
import type { Watch } from '../watch.ts';
import { answerFault, answerJson } from './answer-fault.ts';
import { readArguments, readBody, readUpload } from './arguments.ts';
import { chatMethods } from './chat-methods.ts';
import { directoryMethods } from './directory-methods.ts';
import { type Fault, Faults } from './faults.ts';
import { fileMethods } from './file-methods.ts';
import { type Method, type MethodContext, text } from './method.ts';
import { SlackRefusal } from './slack-refusal.ts';
import { viewMethods } from './view-methods.ts';

/** A call of the Web API, successful or not. */
export interface FakeCall {
  method: string;
  args: JsonObject;
  /** Epoch milliseconds. */
  at: number;
}

export interface WebApiOptions {
  clock: Clock;
  botToken: string;
  appToken: string;
  /** Minimum milliseconds between two messages in one channel; 0 for no limit. */
  messageEvery: number;
  watch: Watch;
  context: () => MethodContext;
}

const methods = new Map<string, Method>(
  Object.entries({ ...chatMethods, ...directoryMethods, ...viewMethods, ...fileMethods }),
);

/** Answers the Web API like Slack, or with scheduled faults. */
export class WebApi {
  readonly calls: FakeCall[] = [];
  readonly faults = new Faults();
  readonly #options: WebApiOptions;
  readonly #lastMessage = new Map<string, number>();

  constructor(options: WebApiOptions) {
    this.#options = options;
  }

  /** Answers one request. Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#route(request, response);
    } catch {
      response.destroy();
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://fake');
    const body = await readBody(request);
    const contentType = request.headers['content-type'] ?? '';
    const fileId = /^\/upload\/v1\/(\w+)$/.exec(url.pathname)?.[1];
    if (fileId !== undefined) {
      await this.#takeFile(fileId, body, contentType, response);
      return;
    }
    const method = /^\/api\/([\w.]+)$/.exec(url.pathname)?.[1];
    if (method === undefined) {
      response.writeHead(404).end();
      return;
    }
    const args = readArguments(url.searchParams, body.toString('utf8'), contentType);
    this.#call(method, args, tokenOf(request, args ?? {}), response);
  }

  async #takeFile(id: string, body: Buffer, type: string, response: ServerResponse): Promise<void> {
    const file = this.#options.context().workspace.files.find((each) => each.id === id);
    const plan = this.faults.take('upload');
    if (file !== undefined && (plan === null || plan.isDone === true)) {
      file.content = await readUpload(body, type);
    }
    if (plan !== null) this.#send(plan.fault, response);
    else if (file === undefined) response.writeHead(404).end();
    else response.end(`OK - ${body.length}`);
  }

  #call(name: string, args: JsonObject | null, token: string, response: ServerResponse): void {
    const plan = this.faults.take(name);
    if (plan === null || plan.isDone === true) {
      const answer = this.#answer(name, args, token);
      if (plan === null) this.#send(answer, response);
    }
    const { token: _token, ...shown } = args ?? {};
    this.calls.push({ method: name, args: shown, at: this.#options.clock.now() });
    if (plan !== null) this.#send(plan.fault, response);
    this.#options.watch.look();
  }

  #answer(name: string, args: JsonObject | null, token: string): JsonObject | Fault {
    const limit = name === 'chat.postMessage' ? this.#limit(text(args ?? {}, 'channel')) : null;
    if (limit !== null) return limit;
    try {
      const method = methods.get(name);
      if (method === undefined) throw new SlackRefusal('unknown_method', { req_method: name });
      this.#checkToken(method, token);
      if (args === null) throw new SlackRefusal('json_not_object');
      return { ok: true, ...method.answer(args, this.#options.context()) };
    } catch (error) {
      if (!(error instanceof SlackRefusal)) throw error;
      return { ok: false, error: error.message, ...error.details };
    }
  }

  #checkToken({ token: needed, scopes: wanted }: Method, token: string): void {
    const { botToken, appToken, context } = this.#options;
    if (token === '') throw new SlackRefusal('not_authed');
    if (token !== botToken && token !== appToken) throw new SlackRefusal('invalid_auth');
    if ((token === botToken) !== (needed === 'bot')) {
      throw new SlackRefusal('not_allowed_token_type');
    }
    const { scopes } = context();
    if (wanted.length === 0 || wanted.some((scope) => scopes.includes(scope))) return;
    throw new SlackRefusal('missing_scope', {
      needed: wanted.join(','),
      provided: scopes.join(','),
    });
  }

  #limit(channel: string): Fault | null {
    const { clock, messageEvery } = this.#options;
    const next = (this.#lastMessage.get(channel) ?? Number.NEGATIVE_INFINITY) + messageEvery;
    const now = clock.now();
    if (messageEvery > 0 && now < next) {
      return { kind: 'rateLimited', retryAfter: Math.ceil((next - now) / 1_000) };
    }
    this.#lastMessage.set(channel, now);
    return null;
  }

  #send(answer: JsonObject | Fault, response: ServerResponse): void {
    const { scopes } = this.#options.context();
    if ('kind' in answer) answerFault(response, answer as Fault, scopes);
    else answerJson(response, answer, scopes);
  }
}

function tokenOf(request: IncomingMessage, args: JsonObject): string {
  const bearer = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  return bearer ?? text(args, 'token');
}
