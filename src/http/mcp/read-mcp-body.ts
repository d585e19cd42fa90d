import type { Context, Middleware, Next } from 'koa';
import { InexactBody, readJson } from '../middleware/read-json.ts';
import { presentInexact } from '../wire/json-rpc.ts';

/** Maximum size of an initialize message in bytes. It arrives without a session and only describes the client. */
const longestGreeting = 16 * 1024;

/**
 * Reads the body of an MCP message like `readJson`. A message with neither a session nor a version is an initialize
 * message and has a smaller limit. A number that parsing would alter is rejected with a JSON-RPC error.
 */
export function readMcpBody(): Middleware {
  const [greeting, message] = [readJson({ longest: longestGreeting }), readJson()];
  return async function mcpBodyReader(ctx: Context, next: Next) {
    try {
      const isGreeting = ctx.get('Mcp-Session-Id') === '' && ctx.get('MCP-Protocol-Version') === '';
      await (isGreeting ? greeting : message)(ctx, next);
    } catch (error) {
      if (!(error instanceof InexactBody)) throw error;
      ctx.body = presentInexact(error);
    }
  };
}
