import type { Clock, Ids, Log } from '../../actors/ports.ts';
import { Heartbeats } from '../heartbeats.ts';
import type { RoutedContext } from '../request-state.ts';
import type { McpFace } from './mcp-face.ts';
import type { McpSessions } from './mcp-sessions.ts';
import { WaitingClients } from './waiting-clients.ts';

/** The path of the MCP face (docs/contract/transports.md). */
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

/** What the key is for that signs the ids of sessions. */
const keyPurpose = 'mcp sessions';

/** `POST, GET, DELETE /mcp`: the tools of the agent for MCP clients (docs/contract/models.md). */
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
    // Loaded with the first client; a store that cannot be read now is asked again.
    sessions ??= open().catch((error: unknown) => {
      sessions = null;
      throw error;
    });
    await (await sessions).answer(ctx);
  };
}
