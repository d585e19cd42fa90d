import { randomBytes } from 'node:crypto';
import * as http from 'node:http';
import type { Socket } from 'node:net';
import { agentProof, isSameProof } from '../../actors/agent-proof.ts';
import type { GateAddress } from './gate-address.ts';

/** A response of a gate. */
export interface GateAnswer {
  status: number;
  text: string;
}

/** Another program listens on the port of the gate; nothing was sent to it. */
export class ForeignGateError extends Error {
  readonly code = 'not_the_gate';
}

/** Maximum size of a response, in bytes. */
const longestAnswer = 4 * 1024 * 1024;

/**
 * Sends an event to a gate. The listener must first prove, on the same connection, that it is the gate of its folder.
 * Uses Node's own client, since a hook starts for each call and undici loads slowly. Rejects with an error of the network,
 * the reason of the signal or ForeignGateError.
 */
export async function sendEvent(
  { url, token, proof }: GateAddress,
  {
    path,
    prefer,
    body,
    signal,
  }: { path: string; prefer: string; body: string; signal: AbortSignal },
): Promise<GateAnswer> {
  const { Agent, request } = url.startsWith('https:') ? await import('node:https') : http;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (to: string, options: http.RequestOptions, content: string, proven: Socket | null) =>
    new Promise<{ response: http.IncomingMessage; text: string; socket: Socket }>(
      (resolve, reject) => {
        const sent = request(`${url}${to}`, { ...options, agent, signal }, (response) => {
          const { socket } = response;
          const chunks: Buffer[] = [];
          let size = 0;
          response.on('error', reject);
          response.on('data', (chunk: Buffer) => {
            size += chunk.length;
            if (size > longestAnswer) sent.destroy(new Error('the answer is too long'));
            chunks.push(chunk);
          });
          response.on('end', () =>
            resolve({ response, text: Buffer.concat(chunks).toString('utf8'), socket }),
          );
        });
        sent.on('error', reject);
        // Node closes the connection of a changed protocol without an error.
        sent.on('upgrade', (_, changed) => {
          changed.destroy();
          reject(new Error('the answer changes the protocol, so another program may listen'));
        });
        sent.on('socket', (socket: Socket) => {
          if (proven === null || socket === proven) return;
          sent.destroy(new Error('the gate closed the connection'));
          socket.destroy();
        });
        sent.end(content);
      },
    );
  try {
    const proven = proof === null ? null : await meet(ask, url, proof);
    const { response, text } = await ask(
      path,
      {
        method: 'POST',
        headers: {
          prefer,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        },
      },
      body,
      proven,
    );
    return { status: response.statusCode ?? 0, text };
  } finally {
    agent.destroy();
  }
}

async function meet(
  ask: (
    to: string,
    options: http.RequestOptions,
    content: string,
    proven: Socket | null,
  ) => Promise<{ response: http.IncomingMessage; socket: Socket }>,
  url: string,
  { key, port }: { key: string; port: number },
): Promise<Socket> {
  const challenge = randomBytes(24).toString('base64url');
  const headers = { 'x-service-challenge': challenge };
  const { response, socket } = await ask('/healthz', { headers }, '', null);
  const answer = String(response.headers['x-service-proof'] ?? '');
  if (isSameProof(answer, agentProof(key, challenge, port))) return socket;
  throw new ForeignGateError(`another program listens at ${url} in place of the gate`);
}
