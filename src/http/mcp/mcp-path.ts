import type { Context } from 'koa';

/** The path of the MCP endpoint (docs/contract/transports.md). */
export const mcpPath = '/mcp';

/** The method that requests the state of a task. */
export const pollMethod = 'tasks/get';

/**
 * Returns true if the headers of a request state that it requests the state of a task. Such a request counts as a read;
 * the route refuses it if its message is another.
 */
export function isMcpPoll(ctx: Context): boolean {
  return ctx.method === 'POST' && ctx.path === mcpPath && ctx.get('Mcp-Method') === pollMethod;
}
