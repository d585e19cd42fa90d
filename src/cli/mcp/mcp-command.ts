import { Command } from 'commander';
import { addValue, portValue } from '../option-values.ts';
import type { Session } from '../session.ts';
import { withAgentOptions } from '../with-agent-options.ts';
import type { McpAddOptions } from './mcp-add.ts';
import type { LoginOptions } from './mcp-login.ts';
import type { McpOptions } from './read-servers.ts';

export function mcpCommand(session: Session): Command {
  const mcp = new Command('mcp').description(
    'give an agent the tools of MCP servers, and inspect them',
  );
  mcp
    .command('add')
    .description('give the agent the tools of an MCP server, held where you choose')
    .usage('[options] <name> -- <command> [argument...]')
    .argument('<name>', 'name of the server in the agent, such as files')
    .argument('[command...]', 'behind --, the program of a server over stdio and its arguments')
    .option('--url <url>', 'the address of a server over HTTP, in the place of a command')
    .option('--header <name=value>', 'a header for the address; may be repeated', addValue)
    .option('--env <name=value>', 'a variable for the command; may be repeated', addValue)
    .option(
      '--allow <tools>',
      'the tools it has, with commas between them (default: all)',
      addValue,
    )
    .option('--deny <tools>', 'the tools it does not have, with commas between them', addValue)
    .option('--held <tools>', 'tools whose calls wait for a person, with commas', addValue)
    .option('--to <target>', 'approval target (default: that of the first rule, else the console)')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (name: string, words: string[], options: McpAddOptions) => {
      const { mcpAdd } = await import('./mcp-add.ts');
      await mcpAdd(session, name, words, options);
    });
  mcp
    .command('list')
    .description('show the tools that MCP servers offer, and which of them are not accepted yet')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (options: McpOptions) => {
      const { mcpList } = await import('./mcp-list.ts');
      await mcpList(session, options);
    });
  mcp
    .command('accept')
    .description('accept the tools that an MCP server offers now')
    .argument('<server>', 'the name of the server in service.yaml')
    .argument('[tool...]', 'its tools, as the server names them (default: all)')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (server: string, tools: string[], options: McpOptions) => {
      const { mcpAccept } = await import('./mcp-accept.ts');
      await mcpAccept(session, { server, tools }, options);
    });
  const login = mcp
    .command('login')
    .description('sign the running agent in to an MCP server, in a browser')
    .argument('<server>', 'the name of the server in service.yaml')
    .option(
      '--port <port>',
      'port of the redirect on this machine (default: a free one)',
      portValue,
    );
  withAgentOptions(login).action(async (server: string, options: LoginOptions) => {
    const { mcpLogin } = await import('./mcp-login.ts');
    await mcpLogin(session, server, options);
  });
  const logout = mcp
    .command('logout')
    .description('delete the tokens of the running agent for an MCP server')
    .argument('<server>', 'the name of the server in service.yaml');
  withAgentOptions(logout).action(async (server: string, options: LoginOptions) => {
    const { mcpLogout } = await import('./mcp-login.ts');
    await mcpLogout(session, server, options);
  });
  return mcp;
}
