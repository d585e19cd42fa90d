import type { ConfigProblem, PlacedPolicy } from '../../actors/config/config.ts';
import { nearestName } from '../../actors/nearest-name.ts';
import { matchesName, matchesPrefix } from '../../actors/tool-name.ts';
import { mcpToolName } from '../../actors/tools/tools.ts';
import type { McpToolsSeen } from '../start/mcp-tools-seen.ts';

/**
 * Finds names and patterns of `mcp.views` that match no tool. One that no server can ever match is a problem. One that
 * its server did not offer last is a warning, since a server must not prevent the start of the others.
 */
export function viewsWithoutTools(
  { config: { mcp }, problemAt }: PlacedPolicy,
  tools: readonly string[],
  seen: McpToolsSeen,
): { problems: ConfigProblem[]; warnings: ConfigProblem[] } {
  const written = mcp.views.flatMap(({ tools: { allow, deny } }, index) => [
    ...allow.map((pattern, at) => ({ pattern, path: [index, 'tools', 'allow', at] })),
    ...deny.map((pattern, at) => ({ pattern, path: [index, 'tools', 'deny', at] })),
  ]);
  const unmatched = written.filter(
    ({ pattern }) => !tools.some((tool) => matchesName(pattern, tool)),
  );
  const found = unmatched.map(({ pattern, path }) => {
    const server = mcp.servers.find(({ name }) => matchesPrefix(pattern, mcpToolName(name, '')));
    const near = nearestName(pattern, tools);
    const advice = near === null ? '' : `; the nearest is ${near}`;
    const at = ['mcp', 'views', ...path];
    if (server === undefined) {
      const message = `this matches no tool of the agent${advice}; tools of a server are named as in shop__find_order`;
      return { isProblem: true, problem: problemAt(at, message) };
    }
    const message =
      (seen.get(server.name) ?? null) === null
        ? `the tools of the MCP server ${server.name} are not known yet, so this is checked when the agent has reached it`
        : `the MCP server ${server.name} offered no such tool when the agent reached it last${advice}`;
    return { isProblem: false, problem: problemAt(at, message) };
  });
  return {
    problems: found.flatMap(({ isProblem, problem }) => (isProblem ? [problem] : [])),
    warnings: found.flatMap(({ isProblem, problem }) => (isProblem ? [] : [problem])),
  };
}
