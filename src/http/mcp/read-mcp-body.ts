import type { Context, Middleware, Next } from 'koa';
import { readJson } from '../middleware/read-json.ts';

/** Longest greeting, in bytes: it comes without a session, and names a client and what it can do. */
const longestGreeting = 16 * 1024;

/** Reads the body of an MCP message as `readJson` does; one without a session is a greeting, and is short. */
export function readMcpBody(): Middleware {
  const [greeting, message] = [readJson({ longest: longestGreeting }), readJson()];
  return (ctx: Context, next: Next) =>
    (ctx.get('Mcp-Session-Id') === '' ? greeting : message)(ctx, next);
}
