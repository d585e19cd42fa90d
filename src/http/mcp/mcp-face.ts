import type { Tool } from '../../actors/ports/tool.ts';
import type { Caller } from '../../machines/domain/task.ts';

/** The tool fields visible to MCP clients. */
export type OfferedTool = Pick<
  Tool,
  'name' | 'description' | 'parameters' | 'annotations' | 'outputSchema'
>;

/** An agent as presented to MCP clients. */
export interface McpFace {
  agentId: string;
  version: string;
  /** Resolves once the members of the groups with views are known; `null` if nothing must be read. */
  ready: () => Promise<void> | null;
  /** Returns the tools that a caller can see now (docs/mcp.md). */
  tools: (caller: Caller | null) => readonly OfferedTool[];
  /** Returns true if the agent has a tool of this name, in the view of a caller or not. */
  hasTool: (name: string) => boolean;
  /** Registers a listener for changes of the tools. */
  onToolsChanged: (listener: () => void) => void;
  /** Returns the agent's key for a purpose. All daemons on one store derive the same key. */
  key: (purpose: string) => Promise<Buffer>;
  /** Maximum milliseconds that a held call keeps a client waiting; 0 for no limit. */
  answerWithin: number;
  /** Returns true if calls of a tool may be held; `null` means any tool. */
  mayHold: (tool: string | null) => boolean;
  /** Returns the address at which people decide on a deferral; `null` without one. */
  pageOf: (deferralId: string) => string | null;
  /** Milliseconds from the end of a call until it may be forgotten. */
  keptFor: number;
  /** True if rules may change a tool's output. */
  changesOutput: boolean;
}
