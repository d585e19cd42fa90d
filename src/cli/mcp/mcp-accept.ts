import { commandLine } from '../../actors/command-line.ts';
import { fingerprintOf } from '../../actors/tools/tools.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { type McpOptions, readServers, withSeen } from './read-servers.ts';

/**
 * `mcp accept SERVER TOOL…`: accepts the tool definitions that a server offered last, or with `TOOL@HASH` a specific
 * reviewed definition. A running agent applies the change within a second.
 */
export async function mcpAccept(
  session: Session,
  { server, tools }: { server: string; tools: readonly string[] },
  options: McpOptions,
): Promise<void> {
  const { output } = session;
  const { servers, seen } = await readServers(session, options);
  if (!servers.some(({ name }) => name === server)) {
    throw missing(
      `service.yaml names no MCP server ${server}`,
      servers.map(({ name }) => name),
    );
  }
  const known = withSeen(seen, () => seen.toolsOf(server)) ?? [];
  const present = known.filter((tool) => tool.offered !== null);
  const offered = present.map(({ name }) => name);
  for (const tool of tools) {
    const [name = '', hash] = tool.split('@');
    if (!offered.includes(name)) throw missing(`${server} does not offer a tool ${name}`, offered);
    if (hash !== undefined && !present.some((one) => fingerprintOf(one) === tool)) {
      throw changed(server, name);
    }
  }
  const accepted = withSeen(seen, () => seen.accept(server, tools.length === 0 ? null : tools));
  output.json({ server, accepted });
  for (const tool of accepted) output.line(plainLine(`${server}__${tool} is accepted`));
  if (accepted.length === 0) output.note('nothing was withheld');
}

function changed(server: string, tool: string): CliError {
  return new CliError(plainLine(`${server} has changed its tool ${tool} since you have seen it`), {
    code: 'mcp_tool_changed',
    exitCode: exitCodes.failed,
    hint: `look at it again with \`${commandLine('mcp list')}\``,
  });
}

function missing(message: string, names: readonly string[]): CliError {
  return new CliError(plainLine(message), {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint: plainLine(names.length === 0 ? 'there is none at all' : `there are ${names.join(', ')}`),
  });
}
