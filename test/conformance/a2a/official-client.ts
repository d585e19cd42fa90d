import { randomUUID } from 'node:crypto';
import { SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { vi } from 'vitest';
import type { AgentClient } from '../../helpers/agent-client.ts';

/** One of the four ways in which the official client speaks to an agent. */
export interface Surface {
  version: '0.3' | '1.0';
  transport: 'JSONRPC' | 'HTTP+JSON';
}

/** Every interface that a card names. */
export const surfaces: Surface[] = [
  { version: '0.3', transport: 'JSONRPC' },
  { version: '0.3', transport: 'HTTP+JSON' },
  { version: '1.0', transport: 'JSONRPC' },
  { version: '1.0', transport: 'HTTP+JSON' },
];

/** Sends a token with every request. */
export function authorized(token: string): typeof fetch {
  return (address, options) => {
    const headers = new Headers(options?.headers);
    headers.set('Authorization', `Bearer ${token}`);
    return fetch(address, { ...options, headers });
  };
}

/**
 * Makes the official client from the card at an address alone, which one of 0.3 fetches as of its version.
 * `fetchImpl` carries its calls.
 */
export function officialClient(
  url: string,
  { version, transport }: Surface,
  fetchImpl: typeof fetch = fetch,
): Promise<Client> {
  const compat = version === '0.3' ? { legacyCompat: { enabled: true } } : {};
  const older: typeof fetch = (address, options) =>
    fetch(address, { ...options, headers: { 'A2A-Version': '0.3' } });
  const factory = new ClientFactory({
    transports: [
      transport === 'JSONRPC'
        ? new JsonRpcTransportFactory({ ...compat, fetchImpl })
        : new RestTransportFactory({ ...compat, fetchImpl }),
    ],
    cardResolver: new DefaultAgentCardResolver({
      ...compat,
      ...(version === '0.3' ? { fetchImpl: older } : {}),
    }),
  });
  return factory.createFromUrl(url);
}

/** What to send, with the message and the configuration as the JSON of 1.0 has them; each is another message. */
export function sending(message: object, configuration?: object): SendMessageRequest {
  const said = { messageId: randomUUID(), role: 'ROLE_USER', ...message };
  return SendMessageRequest.fromJSON({ message: said, configuration });
}

/** A message that has the scripted model play these steps. */
export function script(...steps: object[]): { parts: object[] } {
  return { parts: [{ data: { script: steps } }] };
}

/** A task that the client read, as the JSON of 1.0 has it. */
export function taskJson(answer: object): any {
  return Task.toJSON(answer as Task);
}

/** An event of a stream that the client read, as the JSON of 1.0 has it. */
export function eventJson(event: StreamResponse): any {
  return StreamResponse.toJSON(event);
}

/** The name and the message of the error that a call of the client ends with. Throws when it ends without. */
export async function failureOf(
  call: Promise<unknown>,
): Promise<{ name: string; message: string }> {
  try {
    await call;
  } catch (error) {
    const { name, message } = error as Error;
    return { name, message };
  }
  throw new Error('the call did not fail');
}

/** Resolves with the task of a conversation once it waits for a decision, as the legacy surface shows it. */
export function waitingIn(agent: AgentClient, contextId: string): Promise<any> {
  return vi.waitFor(
    async () => {
      const { body } = await agent.get('/tasks?state=deferred&limit=100');
      const task = body.tasks.find((one: { contextId: string }) => one.contextId === contextId);
      if (task === undefined) throw new Error(`nothing waits in ${contextId}`);
      return task;
    },
    { timeout: 10_000, interval: 10 },
  );
}
