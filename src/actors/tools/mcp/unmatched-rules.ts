import { nearestName } from '../../nearest-name.ts';
import { normalName } from '../../tool-name.ts';
import { mcpToolName } from './mcp-names.ts';

/** A rule of the policy that names a tool of an MCP server. */
export interface RuledMcpTool {
  /** The name that the agent would have the tool under. */
  tool: string;
  /** Where the rule stands, such as `security.defer.tools.files__write_file`. */
  rule: string;
  /** True when the rule says that its tool may come later. */
  isOptional: boolean;
}

/** A rule that fits nothing that its server offers. */
export interface UnmatchedRule {
  rule: string;
  /** The tool that was most likely meant; `null` for none. */
  nearest: string | null;
  /** False for a rule whose tool may come later and that is like none of those that are there. */
  withholds: boolean;
}

/** Finds the rules for tools of a server that fit none of what it offers, under its own names. */
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
