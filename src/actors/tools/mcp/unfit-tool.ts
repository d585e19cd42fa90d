/** A server's tool that the agent cannot use, with the reason worded to follow its name. */
export class UnfitToolError extends Error {
  readonly code = 'mcp_tool_unfit';
}
