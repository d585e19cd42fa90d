import { isLegacyRequest } from '@modelcontextprotocol/server';
import type { RoutedContext } from '../request-state.ts';
import type { CallPorts } from './call-ports.ts';
import { Listeners } from './listeners.ts';
import type { McpFace } from './mcp-face.ts';
import { McpSessions } from './mcp-sessions.ts';
import { ModernRequests } from './modern-requests.ts';
import { SessionIds } from './session-id.ts';
import { ToolListing } from './tool-listing.ts';

/** Answers one request of a client; `message` is `null` for a request without one. Rejects with Problem. */
export type ServeMessage = (ctx: RoutedContext, message: object | null) => Promise<void>;

/** Serves clients of every generation of MCP: a request that states no version of its own belongs to a session. */
export function serveMcp(face: McpFace, ports: CallPorts, key: Buffer): ServeMessage {
  const listeners = new Listeners();
  const serving = { face, ports, listing: new ToolListing(face, ports.log) };
  const sessions = new McpSessions(serving, new SessionIds(key), listeners);
  const modern = new ModernRequests(serving, listeners);
  face.onToolsChanged(() => listeners.toolsChanged());
  return async function serveMessage(ctx, message) {
    if (message === null || (await isLegacy(ctx, message))) return sessions.answer(ctx, message);
    return modern.answer(ctx, message);
  };
}

function isLegacy(ctx: RoutedContext, message: object): Promise<boolean> {
  const version = ctx.get('MCP-Protocol-Version');
  const headers = version === '' ? {} : { 'mcp-protocol-version': version };
  return isLegacyRequest(
    new Request('http://mcp.invalid/mcp', { method: 'POST', headers }),
    message,
  );
}
