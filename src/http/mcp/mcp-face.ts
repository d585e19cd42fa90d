import type { Tool } from '../../actors/ports.ts';

/** What of a tool is shown to MCP clients. */
export type OfferedTool = Pick<
  Tool,
  'name' | 'description' | 'parameters' | 'annotations' | 'outputSchema'
>;

/** The face of an agent as MCP clients see it. */
export interface McpFace {
  agentId: string;
  version: string;
  /** The tools of the agent as they are now. */
  tools: () => readonly OfferedTool[];
  /** Has a listener hear whenever they have changed. */
  onToolsChanged: (listener: () => void) => void;
  /** Returns a key of the agent by its purpose; all daemons over one store have the same. */
  key: (purpose: string) => Promise<Buffer>;
  /** Milliseconds for which a held call keeps a client waiting; 0 for any time. */
  answerWithin: number;
  /** Tells whether calls of a tool may be held; of any tool for `null`. */
  mayHold: (tool: string | null) => boolean;
  /** True when rules may change what a tool returns. */
  changesOutput: boolean;
}
