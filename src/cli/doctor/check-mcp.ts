import { serverHealth } from '../mcp/server-health.ts';
import { plainLine } from '../plain-text.ts';
import type { Finding, Subject } from './check.ts';

/** Checks that the running agent is connected to its MCP servers. */
export async function checkMcpServers({ directory }: Subject): Promise<Finding> {
  const servers = await serverHealth(directory);
  if (servers.length === 0) {
    return { status: 'pass', message: 'no running agent has MCP servers to be checked' };
  }
  const lost = servers.filter(({ state }) => state !== 'connected');
  const [first, ...others] = lost;
  if (first === undefined) {
    const { length } = servers;
    return {
      status: 'pass',
      message: `connected to ${length} MCP server${length === 1 ? '' : 's'}`,
    };
  }
  const why = first.error === null ? 'is not connected yet' : first.error.message;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return {
    status: first.error?.needs_person === true ? 'fail' : 'warn',
    message: plainLine(`${first.name} ${why}${more}`),
    fix: 'correct its settings in service.yaml, or the server',
  };
}
