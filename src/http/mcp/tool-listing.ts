import { type Tool as McpTool, ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Log } from '../../actors/ports.ts';
import type { McpFace, OfferedTool } from './mcp-face.ts';
import { offersTaskResult, taskResultTool } from './task-result-tool.ts';

/**
 * The list of tools that MCP clients are shown. Clients refuse a list for one tool that is not as MCP has it, so each tool
 * is checked by the schema of the SDK, once, and is left out when it does not fit.
 */
export class ToolListing {
  readonly #face: McpFace;
  readonly #log: Pick<Log, 'warn'>;
  readonly #shown = new WeakMap<OfferedTool, McpTool | null>();
  /** Names of tools that the log has said to be left out. */
  readonly #told = new Set<string>();

  constructor(face: McpFace, log: Pick<Log, 'warn'>) {
    this.#face = face;
    this.#log = log;
  }

  /** Returns the tools as clients are shown them. */
  tools(): McpTool[] {
    const tools = this.#face.tools().map((tool) => this.#shownOf(tool));
    const fitting = tools.filter((tool) => tool !== null);
    return offersTaskResult(this.#face) ? [...fitting, taskResultTool] : fitting;
  }

  #shownOf(tool: OfferedTool): McpTool | null {
    const known = this.#shown.get(tool);
    if (known !== undefined) return known;
    const shown = this.#present(tool);
    const { success, error } = ToolSchema.safeParse(shown);
    if (!success && !this.#told.has(tool.name)) {
      this.#told.add(tool.name);
      const [issue] = error.issues;
      const at = issue === undefined ? '' : ` (${issue.path.join('.')}: ${issue.message})`;
      this.#log.warn(
        { tool: tool.name },
        `mcp: the tool ${tool.name} is not shown to MCP clients, since its definition is none of MCP${at}; correct its schema`,
      );
    }
    this.#shown.set(tool, success ? shown : null);
    return success ? shown : null;
  }

  #present({ name, description, parameters, annotations, outputSchema }: OfferedTool): McpTool {
    const { changesOutput, mayHold } = this.#face;
    // A client refuses an answer without structured content of a tool that has promised it.
    const isPromised = outputSchema !== undefined && !changesOutput && !mayHold(name);
    return {
      name,
      description,
      inputSchema: { ...parameters, type: 'object' as const },
      ...(annotations === undefined ? {} : { annotations }),
      ...(isPromised ? { outputSchema: outputSchema as McpTool['outputSchema'] } : {}),
    };
  }
}
