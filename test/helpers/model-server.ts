import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { LLMock } from '@copilotkit/aimock';
import { onTestFinished } from 'vitest';
import { listenOnLoopback } from './listen-on-loopback.ts';

/** The key that a test's model is asked with; it must show nowhere. */
export const canaryKey = 'sk-canary-1234567890';

/** An environment with a key for every provider. */
export const keys = {
  OPENAI_API_KEY: canaryKey,
  ANTHROPIC_API_KEY: canaryKey,
  GOOGLE_GENERATIVE_AI_API_KEY: canaryKey,
};

/** The wires that models are asked over, with what `service.yaml` says of each at a server of a test. */
export const wires = {
  'openai chat': (url: string) => ({ provider: 'openai', api: 'chat', base_url: `${url}/v1` }),
  'openai responses': (url: string) => ({
    provider: 'openai',
    api: 'responses',
    base_url: `${url}/v1`,
  }),
  anthropic: (url: string) => ({ provider: 'anthropic', base_url: `${url}/v1` }),
  google: (url: string) => ({ provider: 'google', base_url: `${url}/v1beta` }),
  'openai-compatible': (url: string) => ({
    provider: 'openai-compatible',
    base_url: `${url}/v1`,
  }),
  ollama: (url: string) => ({ provider: 'ollama', base_url: url }),
} as const;

/** The names of the wires. */
export const wireNames = Object.keys(wires) as (keyof typeof wires)[];

/** Starts a server that speaks the wires of openai, anthropic and google until the test has finished. */
export async function startModelServer(): Promise<LLMock> {
  const mock = new LLMock({ port: 0 });
  await mock.start();
  onTestFinished(() => mock.stop().catch(() => undefined));
  return mock;
}

/** Starts a server that answers each request of a model as a test configures it, and returns its address. */
export function startRawModel(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => answer(response, request));
  });
  return listenOnLoopback(server);
}

/** Begins an answer of the chat wire, and writes these words of it. */
export function beginChat(response: ServerResponse, ...words: string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const word of words) response.write(chatEvent({ content: word }));
}

/** One event of the chat wire. */
export function chatEvent(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', choices })}\n\n`;
}

/** Ends an answer of the chat wire. */
export function endChat(response: ServerResponse): void {
  response.end(`${chatEvent({}, 'stop')}data: [DONE]\n\n`);
}
