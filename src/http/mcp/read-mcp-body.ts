import type { Context, Middleware, Next } from 'koa';
import { InexactBody, readJson } from '../middleware/read-json.ts';
import { presentInexact } from '../wire/json-rpc.ts';

/** Longest greeting, in bytes: it comes without a session, and names a client and what it can do. */
const longestGreeting = 16 * 1024;

/**
 * Reads the body of an MCP message as `readJson` does; one without a session is a greeting, and is short. A number that reading would
 * change is refused in the words of JSON-RPC.
 */
export function readMcpBody(): Middleware {
  const [greeting, message] = [readJson({ longest: longestGreeting }), readJson()];
  return async function mcpBodyReader(ctx: Context, next: Next) {
    try {
      await (ctx.get('Mcp-Session-Id') === '' ? greeting : message)(ctx, next);
    } catch (error) {
      if (!(error instanceof InexactBody)) throw error;
      ctx.body = presentInexact(error);
    }
  };
}
