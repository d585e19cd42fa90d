import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { vi } from 'vitest';
import { chatEvent } from './model-server.ts';

/** A model that says what a test has it say, when the test has it say it; over the chat wire of OpenAI. */
export class TalkingModel {
  readonly #server = createServer((request, response) => void this.#take(request, response));
  readonly #asked: ModelAnswer[] = [];

  /** Listens, and resolves with what `service.yaml` says of it. */
  async listen(): Promise<{ provider: string; name: string; base_url: string }> {
    await new Promise<void>((listening) => this.#server.listen(0, '127.0.0.1', listening));
    const { port } = this.#server.address() as AddressInfo;
    return {
      provider: 'openai-compatible',
      name: 'talking',
      base_url: `http://127.0.0.1:${port}/v1`,
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }

  /** Resolves with the next answer that the agent waits for. */
  async next(): Promise<ModelAnswer> {
    return vi.waitUntil(() => this.#asked.shift(), { timeout: 60_000, interval: 10 });
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { messages } = (await json(request)) as { messages: object[] };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.#asked.push(new ModelAnswer(messages, response));
  }
}

/** One answer of a model, which a test writes as it goes. */
export class ModelAnswer {
  /** What it was asked with. */
  readonly messages: readonly object[];
  /** Resolves when the agent no longer listens. */
  readonly left: Promise<void>;
  readonly #response: ServerResponse;

  constructor(messages: readonly object[], response: ServerResponse) {
    this.messages = messages;
    this.#response = response;
    this.left = new Promise((resolve) => response.once('close', resolve));
  }

  say(text: string): void {
    this.#response.write(chatEvent({ content: text }));
  }

  /** Asks for a call and ends with it. */
  call(name: string, args: object): void {
    const call = { name, arguments: JSON.stringify(args) };
    const tool_calls = [{ index: 0, id: `call-${name}`, type: 'function', function: call }];
    this.#response.write(chatEvent({ tool_calls }));
    this.#end('tool_calls');
  }

  /** Says the last words of the answer. */
  end(text = ''): void {
    if (text !== '') this.say(text);
    this.#end('stop');
  }

  /** Ends in the middle of the answer. */
  breakOff(): void {
    this.#response.destroy();
  }

  #end(reason: string): void {
    this.#response.end(`${chatEvent({}, reason)}data: [DONE]\n\n`);
  }
}
