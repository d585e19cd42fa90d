import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnLoopback } from '../../../helpers/listen-on-loopback.ts';

/** One request as the server got it. */
export interface SeenRequest {
  url: string;
  headers: IncomingMessage['headers'];
  body: unknown;
}

/** A server on loopback with configured answers that closes with its test. */
export async function startServer(
  answer: (request: SeenRequest, response: ServerResponse) => void,
): Promise<{ address: string; seen: SeenRequest[] }> {
  const seen: SeenRequest[] = [];
  const server = createServer((incoming, response) => {
    let text = '';
    incoming.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    incoming.on('end', () => {
      const { url = '', headers } = incoming;
      const request = { url, headers, body: JSON.parse(text) };
      seen.push(request);
      answer(request, response);
    });
  });
  return { address: await listenOnLoopback(server), seen };
}

/** The body of an answer of the OpenAI wire. */
export function vectorsBody(vectors: unknown[]): string {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  return JSON.stringify({ object: 'list', data, model: 'm', usage: { prompt_tokens: 1 } });
}
