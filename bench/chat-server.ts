import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/**
 * A model server of its own: it speaks the streaming wire of OpenAI chat. The name of the model says how fast and how
 * much: `rate-50-1500` is 1,500 tokens at 50 a second, `rate-0-20` is 20 at once.
 */

/** The last character of each token occurs nowhere else in a stream, so that tokens are counted as bytes. */
const token = 'tok~';

const event = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'bench',
    choices: [{ index: 0, delta, finish_reason: null }],
    ...more,
  })}\n\n`;

const begin = event({ role: 'assistant', content: '' });
const piece = event({ content: token });
const end = `${event(
  {},
  {
    choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
  },
)}data: [DONE]\n\n`;

const server = createServer((request, response) => {
  void json(request).then((body) => stream((body as { model: string }).model, response));
});

function stream(model: string, response: ServerResponse): void {
  const [rate = 0, count = 0] = model.split('-').slice(1).map(Number);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (rate === 0) return void response.end(begin + piece.repeat(count) + end);
  response.write(begin + piece);
  const began = performance.now();
  let sent = 1;
  // What a late timer missed is made up for.
  const timer = setInterval(() => {
    const due = Math.min(count, 1 + Math.floor(((performance.now() - began) * rate) / 1_000));
    for (; sent < due; sent += 1) response.write(piece);
    if (sent < count) return;
    clearInterval(timer);
    response.end(end);
  }, 1_000 / rate);
  response.once('close', () => clearInterval(timer));
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', 2_048, () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }));
});
process.once('SIGTERM', () => process.exit());
