import type { z } from 'zod';
import { mcpServerList } from '../../http/wire/mcp-server.ts';
import { loose } from '../../http/wire/relaxed.ts';
import { AgentClient } from '../agent-client.ts';
import { findAgent } from '../find-agent.ts';

/** Timeout of the running agent's answer, in milliseconds. */
const patience = 3_000;

const listed = loose(mcpServerList, [
  ...(['servers', 'name', 'state', 'since', 'error', 'retry_at', 'calls'] as const),
  ...(['message', 'needs_person', 'count', 'failed', 'median_ms'] as const),
]);

/** The health of an MCP server. */
export type ServerHealth = z.output<typeof listed>['servers'][number];

/** Returns the health of an agent's MCP servers; empty if the agent does not run or does not answer. */
export async function serverHealth(directory: string): Promise<ServerHealth[]> {
  try {
    const agent = new AgentClient(findAgent({ dir: directory }, {}));
    const signal = AbortSignal.timeout(patience);
    try {
      const answer = await agent.json({ method: 'GET', path: '/mcp-servers', signal });
      return listed.parse(answer).servers;
    } finally {
      await agent.close();
    }
  } catch {
    return [];
  }
}

/** Describes the health of a server in one line. */
export function healthLine({
  state,
  since,
  error,
  retry_at: retryAt,
  calls,
}: ServerHealth): string {
  const { count, failed, median_ms: median } = calls;
  const figures =
    count === 0
      ? 'no calls yet'
      : `${count} ${count === 1 ? 'call' : 'calls'}, ${failed} failed, median ${median === null ? 'unknown' : `${median} ms`}`;
  if (state === 'connected') return `connected since ${since}; ${figures}`;
  const why = error === null ? '' : `: it ${error.message}`;
  const next =
    error?.needs_person === true
      ? '; it needs a person'
      : retryAt === null
        ? ''
        : `; next attempt at ${retryAt}`;
  return `not connected${why}${next}; ${figures}`;
}
