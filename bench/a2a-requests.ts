import { randomUUID } from 'node:crypto';
import type { Connections } from './connections.ts';

/** One that comes a second time would make no task. */
const currentMessage = () => ({
  role: 'ROLE_USER',
  messageId: randomUUID(),
  parts: [{ text: 'hello' }],
});
const compatMessage = () => ({
  kind: 'message',
  role: 'user',
  messageId: randomUUID(),
  parts: [{ kind: 'text', text: 'hello' }],
});

/** Returns a JSON-RPC request of a method that sends a message: of A2A 1.0 for `SendMessage`, else of 0.3.0. */
export function requestOf(method: string) {
  const isCurrent = method === 'SendMessage';
  const message = isCurrent ? currentMessage() : compatMessage();
  return {
    method: 'POST' as const,
    path: '/',
    headers: {
      'content-type': 'application/json',
      'a2a-version': isCurrent ? '1.0' : '0.3',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { message } }),
  };
}

/** Returns a request that streams the answer, as agents did before A2A. */
export function legacyStream(): ReturnType<typeof requestOf> {
  const message = { parts: [{ kind: 'text', text: 'hello' }] };
  return {
    ...requestOf('message/stream'),
    path: '/tasks/sendSubscribe',
    body: JSON.stringify({ message }),
  };
}

/** Sends a message over JSON-RPC. Rejects with the answer when it is no echo. */
export async function send(pool: Connections, method: string): Promise<void> {
  const { body } = await pool.request(requestOf(method));
  const text = await body.text();
  if (!text.includes('echo: hello')) throw new Error(`${method}: ${text}`);
}

/** Sends a message over REST of A2A 1.0. Rejects with the answer when it is no echo. */
export async function sendRest(pool: Connections): Promise<void> {
  const { body } = await pool.request({
    method: 'POST',
    path: '/a2a/message:send',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ message: currentMessage() }),
  });
  const text = await body.text();
  if (!text.includes('echo: hello')) throw new Error(`REST: ${text}`);
}
