import { nearestName } from '../../nearest-name.ts';
import { normalName } from '../../tool-name.ts';
import { mcpToolName } from './mcp-names.ts';

/** A policy rule for a tool of an MCP server. */
export interface RuledMcpTool {
  /** The agent's name for the tool. */
  tool: string;
  /** Path of the rule, such as `security.defer.tools.files__write_file`. */
  rule: string;
  /** True if the rule allows its tool to be added later. */
  isOptional: boolean;
}

/** A rule that matches none of its server's tools. */
export interface UnmatchedRule {
  rule: string;
  /** The tool most likely meant; `null` for none. */
  nearest: string | null;
  /** False for an optional rule whose name resembles none of the existing tools. */
  withholds: boolean;
}

/** Returns the rules for a server's tools that match none of the names it offers. */
export function unmatchedRules(
  server: string,
  offered: readonly string[],
  ruled: readonly RuledMcpTool[],
): UnmatchedRule[] {
  const names = offered.map((name) => mcpToolName(server, name));
  const known = new Set(names.map(normalName));
  return ruled
    .filter(({ tool }) => tool.startsWith(mcpToolName(server, '')) && !known.has(normalName(tool)))
    .map(({ tool, rule, isOptional }) => {
      const nearest = names.length === 0 ? null : nearestName(tool, names);
      return { rule, nearest, withholds: !isOptional || nearest !== null };
    });
}
