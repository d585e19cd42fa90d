import type { Clock } from '../../actors/ports/clock.ts';
import type { Ids } from '../../actors/ports/ids.ts';
import type { Log } from '../../actors/ports/log.ts';
import { Heartbeats } from '../heartbeats.ts';
import type { RoutedContext } from '../request-state.ts';
import { fieldOf } from '../wire/field-of.ts';
import { Problem } from '../wire/problem.ts';
import type { McpFace } from './mcp-face.ts';
import { isMcpPoll, pollMethod } from './mcp-path.ts';
import type { ServeMessage } from './serve-mcp.ts';
import { WaitingClients } from './waiting-clients.ts';

/** The dependencies of the MCP endpoint. */
export interface McpPorts {
  mcp: McpFace | null;
  ids: Ids;
  log: Log;
  clock: Clock;
  onDisconnect: 'abandon' | 'keep';
}

/** Milliseconds between two progress notifications. Many clients time out after a minute. */
const progressEvery = 10_000;

/** Purpose of the key that signs session IDs. */
const keyPurpose = 'mcp sessions';

/** Maximum length of a message ID in characters; it stays in memory for the duration of the call. */
const longestId = 256;

/** `POST, GET, DELETE /mcp`: provides the agent's tools to MCP clients (docs/contract/models.md). */
export function mcpRoute(face: McpFace, ports: McpPorts) {
  const beats = new Heartbeats(ports.clock, progressEvery);
  let serving: Promise<ServeMessage> | null = null;
  const open = async (): Promise<ServeMessage> => {
    const key = await face.key(keyPurpose);
    const callPorts = { ...ports, beats, waiting: new WaitingClients() };
    const { serveMcp } = await import('./serve-mcp.ts');
    return serveMcp(face, callPorts, key);
  };
  return async function mcp(ctx: RoutedContext) {
    // Loaded for the first client. If the store cannot be read, the next request retries.
    serving ??= open().catch((error: unknown) => {
      serving = null;
      throw error;
    });
    await face.ready();
    const answer = await serving;
    await answer(ctx, ctx.method === 'POST' ? readMessage(ctx) : null);
  };
}

function readMessage(ctx: RoutedContext): object {
  const { body } = ctx.request as { body?: unknown };
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Problem('invalid_body', 'send one JSON-RPC message as the body');
  }
  if (isMcpPoll(ctx) && fieldOf(body, 'method') !== pollMethod) {
    const error = `the header Mcp-Method says ${pollMethod}; send the method of the message`;
    throw new Problem('invalid_header', error);
  }
  const id = fieldOf(body, 'id');
  if (typeof id === 'string' && id.length > longestId) {
    const error = `the id of a JSON-RPC message has at most ${longestId} characters`;
    throw new Problem('invalid_body', error);
  }
  return body;
}
