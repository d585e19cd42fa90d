/** A tool of a server that the agent cannot have, in words that follow its name. */
export class UnfitToolError extends Error {
  readonly code = 'mcp_tool_unfit';
}
