import type { Clock } from '../../actors/ports/clock.ts';
import type { Ids } from '../../actors/ports/ids.ts';
import type { Log } from '../../actors/ports/log.ts';
import { Heartbeats } from '../heartbeats.ts';
import type { RoutedContext } from '../request-state.ts';
import type { McpFace } from './mcp-face.ts';
import type { McpSessions } from './mcp-sessions.ts';
import { WaitingClients } from './waiting-clients.ts';

/** The path of the MCP endpoint (docs/contract/transports.md). */
export const mcpPath = '/mcp';

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

/** `POST, GET, DELETE /mcp`: provides the agent's tools to MCP clients (docs/contract/models.md). */
export function mcpRoute(face: McpFace, ports: McpPorts) {
  const beats = new Heartbeats(ports.clock, progressEvery);
  let sessions: Promise<McpSessions> | null = null;
  const open = async (): Promise<McpSessions> => {
    const key = await face.key(keyPurpose);
    const [{ McpSessions: Sessions }, { SessionIds }] = await Promise.all([
      import('./mcp-sessions.ts'),
      import('./session-id.ts'),
    ]);
    return new Sessions(face, new SessionIds(key), {
      ...ports,
      beats,
      waiting: new WaitingClients(),
    });
  };
  return async function mcp(ctx: RoutedContext) {
    // Loaded for the first client. If the store cannot be read, the next request retries.
    sessions ??= open().catch((error: unknown) => {
      sessions = null;
      throw error;
    });
    await face.ready();
    await (await sessions).answer(ctx);
  };
}
