import type { Clock, Ids, Log } from '../../actors/ports.ts';
import { Heartbeats } from '../heartbeats.ts';
import type { RoutedContext } from '../request-state.ts';
import type { McpFace } from './mcp-server.ts';
import type { McpSessions } from './mcp-sessions.ts';

/** The path of the MCP face (contract section 5). */
export const mcpPath = '/mcp';

/** What the MCP face stands on. */
export interface McpPorts {
  mcp: McpFace | null;
  ids: Ids;
  log: Log;
  clock: Clock;
  onDisconnect: 'abandon' | 'keep';
}

/** Milliseconds between two words of progress: clients begin to lose patience after a minute. */
const progressEvery = 10_000;

/** `POST, GET, DELETE /mcp`: the tools of the agent for MCP clients (contract section 13). */
export function mcpRoute(face: McpFace, ports: McpPorts) {
  const beats = new Heartbeats(ports.clock, progressEvery);
  let sessions: Promise<McpSessions> | null = null;
  return async function mcp(ctx: RoutedContext) {
    // Loaded with the first client.
    sessions ??= import('./mcp-sessions.ts').then(
      (made) => new made.McpSessions(face, { ...ports, beats }),
    );
    await (await sessions).answer(ctx);
  };
}
