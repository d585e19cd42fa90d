import { hash } from 'node:crypto';
import { ToolSchema } from '@modelcontextprotocol/core';
import type { Tool as McpTool } from '@modelcontextprotocol/server';
import type { Log } from '../../actors/ports/log.ts';
import type { Caller } from '../../machines/domain/task.ts';
import type { Era } from './client-abilities.ts';
import type { McpFace, OfferedTool } from './mcp-face.ts';
import { offersTaskResult, taskResultTool } from './task-result-tool.ts';

/**
 * The tool list for MCP clients. Clients reject a whole list because of one invalid tool, so each tool is validated
 * once with the SDK's schema and omitted if invalid.
 */
export class ToolListing {
  readonly #face: McpFace;
  readonly #log: Pick<Log, 'warn'>;
  readonly #shown = new WeakMap<OfferedTool, McpTool | null>();
  /** Names of omitted tools that have already been logged. */
  readonly #told = new Set<string>();

  constructor(face: McpFace, log: Pick<Log, 'warn'>) {
    this.#face = face;
    this.#log = log;
  }

  /** Returns the tools of a caller in MCP format. With sessions, each states whether its calls may be tasks. */
  tools(caller: Caller | null, era: Era): McpTool[] {
    const tools = this.#face.tools(caller).map((tool) => this.#shownOf(tool));
    const fitting = tools.filter((tool) => tool !== null);
    const shown = era === 'legacy' ? fitting.map((tool) => this.#asTask(tool)) : fitting;
    const hasCalls = shown.length > 0 && offersTaskResult(this.#face);
    return hasCalls ? [...shown, taskResultTool] : shown;
  }

  /** Returns a digest of the tools of a caller, which differs after a change of their list. */
  digest(caller: Caller | null): string {
    return hash('sha256', JSON.stringify(this.tools(caller, 'modern')), 'base64url');
  }

  #asTask(tool: McpTool): McpTool {
    if (!this.#face.mayHold(tool.name)) return tool;
    return { ...tool, execution: { taskSupport: 'optional' } };
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
    // A client rejects a result without structured content if the tool declares an output schema.
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
