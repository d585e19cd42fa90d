import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import * as z from 'zod';

/** Key of a server's own result within a sealed one. */
const sealed = 'holdpoint/result';

/**
 * Wraps the result in a server's message into one that the SDK accepts for every request and in every version of MCP.
 * The SDK would refuse a whole list for one tool, results of servers that it considers incomplete, and handles of tasks.
 */
export function sealResult(message: JSONRPCMessage): void {
  if (!('result' in message)) return;
  const { result } = message;
  Object.assign(message, {
    result: {
      ...{ resultType: 'complete', ttlMs: 0, cacheScope: 'private', content: [], tools: [] },
      _meta: { [sealed]: result },
    },
  });
}

/** Schema of a sealed result; yields the server's own. */
export const sealedResult = z
  .looseObject({ _meta: z.looseObject({ [sealed]: z.unknown() }) })
  .transform(({ _meta }) => _meta[sealed]);
