import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished, vi } from 'vitest';

/** How a fake Telegram fails: in its own words, with a page, with something else, late, or not at all. */
export type TelegramFault =
  | { status: number; description?: string; retryAfter?: number; movedTo?: number }
  | { result: unknown }
  | { redirect: string }
  | 'html'
  | 'hang'
  | 'reset';

/** One call of a method with its arguments; a file is `{name, text}`. */
export interface TelegramCall {
  method: string;
  args: Record<string, any>;
}

/** A message of a person; a `chat` below zero is a group. */
export interface Said {
  text?: string;
  chat?: number;
  user?: Record<string, unknown>;
  /** Anything else that the message holds, such as `photo`. */
  more?: Record<string, unknown>;
  /** The id of the update; one more than the last unless given. */
  update?: number;
}

interface Poll {
  response: ServerResponse;
  timer: NodeJS.Timeout;
}

const names: Record<number, string> = {
  400: 'Bad Request: chat not found',
  401: 'Unauthorized',
  403: 'Forbidden: bot was blocked by the user',
  404: 'Not Found',
  409: 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
  429: 'Too Many Requests',
};

/** Telegram for one bot on 127.0.0.1, with long polls that are really held. */
export class FakeTelegram {
  readonly token = '4242:canary-telegram-token';
  readonly self = { id: 4242, is_bot: true, first_name: 'Desk', username: 'DeskBot' };
  readonly calls: TelegramCall[] = [];
  readonly #server: Server;
  readonly #faults = new Map<string, TelegramFault[]>();
  readonly #pushed: { update_id: number }[] = [];
  #updates: { update_id: number }[] = [];
  #last = { update: 100, message: 0 };
  #poll: Poll | null = null;

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** Starts one that is closed after the test. */
  static async start(): Promise<FakeTelegram> {
    const fake = new FakeTelegram();
    fake.#server.listen(0, '127.0.0.1');
    await once(fake.#server, 'listening');
    onTestFinished(() => fake.close());
    return fake;
  }

  /** What a method is called at, without the token. */
  get apiUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The id of the newest message of any chat. */
  get lastMessage(): number {
    return this.#last.message;
  }

  /** True while a poll waits for messages. */
  get isPolled(): boolean {
    return this.#poll !== null;
  }

  /** The arguments of every call of a method. */
  called(method: string): Record<string, any>[] {
    return this.calls.filter((call) => call.method === method).map(({ args }) => args);
  }

  /** Resolves with the arguments of the calls of a method, once there are so many. */
  async reached(method: string, count = 1): Promise<Record<string, any>[]> {
    await vi.waitUntil(() => this.called(method).length >= count, { timeout: 15_000, interval: 2 });
    return this.called(method);
  }

  /** Has the next calls of a method fail so, and every later one succeed. */
  fail(method: string, ...faults: TelegramFault[]): void {
    this.#faults.set(method, [...(this.#faults.get(method) ?? []), ...faults]);
  }

  /** Sends a message of a person, and returns its id. */
  say({ text, chat = 7, user = {}, more = {}, update }: Said): number {
    this.#last.message += 1;
    this.push({
      ...(update !== undefined && { update_id: update }),
      message: {
        message_id: this.#last.message,
        date: 1_700_000_000,
        chat: { id: chat, type: chat < 0 ? 'supergroup' : 'private' },
        from: { id: 7, is_bot: false, first_name: 'Ann', username: 'ann_w', ...user },
        ...(text !== undefined && { text }),
        ...more,
      },
    });
    return this.#last.message;
  }

  /** Presses a button below a message of the bot; `changes` replace parts of the update. */
  press(
    data: string,
    at: { chat: number; message: number },
    user: object = {},
    changes: object = {},
  ): void {
    this.#last.update += 1;
    this.push({
      callback_query: {
        id: `press-${this.#last.update}`,
        from: { id: 7, is_bot: false, first_name: 'Ann', ...user },
        message: {
          ...{ message_id: at.message, date: 1_700_000_000 },
          ...{ chat: { id: at.chat, type: 'supergroup' }, from: this.self },
        },
        ...{ chat_instance: '1', data, ...changes },
      },
    });
  }

  /** Puts an update into the queue, with an id of its own unless it brings one. */
  push(update: Record<string, unknown>): void {
    this.#last.update += 1;
    const pushed = { update_id: this.#last.update, ...update };
    this.#pushed.push(pushed);
    this.#updates.push(pushed);
    if (this.#poll !== null) this.#answerPoll({ ok: true, result: this.#updates });
  }

  /** Sends every message again, acknowledged or not. */
  repeat(): void {
    this.#updates = [...this.#pushed];
  }

  /** Ends the poll that is held, as another process that polls does. */
  conflict(): void {
    this.#answerPoll(refusal({ status: 409 }));
  }

  /** Ends the poll that is held without news, as after its time. */
  silence(): void {
    this.#answerPoll({ ok: true, result: [] });
  }

  async close(): Promise<void> {
    if (this.#poll !== null) clearTimeout(this.#poll.timer);
    const closed = new Promise((done) => this.#server.close(done));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, token, method = ''] = /^\/bot([^/]*)\/(\w+)$/.exec(request.url ?? '') ?? [];
    const args = await argsOf(request);
    this.calls.push({ method, args });
    const fault = this.#faults.get(method)?.shift();
    if (fault === 'hang') return;
    if (fault === 'reset') return void request.socket.destroy();
    if (fault === 'html') {
      response.writeHead(502, { 'content-type': 'text/html' });
      return void response.end(`<html>bad gateway: ${request.url}</html>`);
    }
    if (fault !== undefined) return fail(response, fault);
    if (token !== this.token) return send(response, refusal({ status: 401 }));
    if (method === 'getUpdates') return this.#hold(args, response);
    send(response, { ok: true, result: this.#resultOf(method, args) });
  }

  #resultOf(method: string, args: Record<string, any>): unknown {
    if (method === 'getMe') return this.self;
    if (method === 'getChat') return { id: args['chat_id'], type: 'supergroup' };
    if (!method.startsWith('send') || method === 'sendChatAction') return true;
    this.#last.message += 1;
    return { message_id: this.#last.message, date: 1_700_000_000, chat: { id: args['chat_id'] } };
  }

  #hold({ offset = 0, timeout = 0 }: Record<string, any>, response: ServerResponse): void {
    this.conflict();
    this.#updates = this.#updates.filter(({ update_id: id }) => id >= offset);
    const timer = setTimeout(() => this.#answerPoll({ ok: true, result: [] }), timeout * 1_000);
    const poll = { response, timer };
    this.#poll = poll;
    response.on('close', () => {
      clearTimeout(timer);
      if (this.#poll === poll) this.#poll = null;
    });
    if (this.#updates.length > 0) this.#answerPoll({ ok: true, result: this.#updates });
  }

  #answerPoll(answer: object): void {
    if (this.#poll === null) return;
    clearTimeout(this.#poll.timer);
    send(this.#poll.response, answer);
    this.#poll = null;
  }
}

function refusal({
  status,
  description,
  retryAfter,
  movedTo,
}: Extract<TelegramFault, { status: number }>) {
  return {
    ok: false,
    error_code: status,
    description: description ?? names[status] ?? 'Internal Server Error',
    ...(retryAfter !== undefined && { parameters: { retry_after: retryAfter } }),
    ...(movedTo !== undefined && { parameters: { migrate_to_chat_id: movedTo } }),
  };
}

function fail(response: ServerResponse, fault: Exclude<TelegramFault, string>): void {
  if ('status' in fault) return send(response, refusal(fault));
  if ('result' in fault) return send(response, { ok: true, ...fault });
  response.writeHead(307, { location: fault.redirect }).end();
}

function send(response: ServerResponse, answer: object): void {
  const status = 'error_code' in answer ? Number(answer.error_code) : 200;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer));
}

async function argsOf(request: IncomingMessage): Promise<Record<string, any>> {
  const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
  const type = request.headers['content-type'] ?? '';
  if (!type.startsWith('multipart/')) return body.length === 0 ? {} : JSON.parse(body.toString());
  const form = await new Response(body, { headers: { 'content-type': type } }).formData();
  const files = new Map<string, { name: string; text: string }>();
  for (const [name, part] of form) {
    if (part instanceof File)
      files.set(`attach://${name}`, { name: part.name, text: await part.text() });
  }
  const fields = [...form].filter(([, part]) => typeof part === 'string') as [string, string][];
  return Object.fromEntries(
    fields.map(([name, text]) => [name, files.get(text) ?? readField(text)]),
  );
}

/** Next to a file, values that are not strings are sent as JSON. */
function readField(text: string): unknown {
  return /^(-?\d+$|\{|true$|false$)/.test(text) ? JSON.parse(text) : text;
}
