import { Command } from 'commander';
import type { Session } from '../session.ts';
import type { McpOptions } from './read-servers.ts';

/** Defines `mcp list` and `mcp accept`. */
export function mcpCommand(session: Session): Command {
  const mcp = new Command('mcp').description('look at the tools of MCP servers, and let them in');
  mcp
    .command('list')
    .description('show the tools that MCP servers offer, and which of them nobody has seen yet')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (options: McpOptions) => {
      const { mcpList } = await import('./mcp-list.ts');
      await mcpList(session, options);
    });
  mcp
    .command('accept')
    .description('let in what an MCP server offers now, once you have seen it')
    .argument('<server>', 'the name of the server in service.yaml')
    .argument('[tool...]', 'its tools, in the words of the server (default: all of them)')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (server: string, tools: string[], options: McpOptions) => {
      const { mcpAccept } = await import('./mcp-accept.ts');
      await mcpAccept(session, { server, tools }, options);
    });
  return mcp;
}
