import type { JsonObject } from '../../../machines/json.ts';
import { messageOf } from '../../../machines/message-of.ts';
import { type Tool, ToolError } from '../../ports/tool.ts';
import { matchesName } from '../../tool-name.ts';
import {
  type CompiledSchema,
  checkArguments,
  checkSchema,
  compileLater,
} from '../skills/skills.ts';

/** The tools of a gate; other programs run them. */
export interface GateSettings {
  tools: Readonly<Record<string, GateTool>>;
  unknown: 'deny' | 'defer' | 'allow';
}

interface GateTool {
  description: string;
  schema: JsonObject;
}

/**
 * The tools of a gate that other programs run, by name or pattern, and those of its MCP servers. `get` finds the tool
 * for any name that an entry matches, and with `unknown` other than `deny` for every name; the entries themselves are
 * listed.
 */
export class GateTools extends Map<string, Tool> {
  readonly #settings: GateSettings;
  readonly #any: Tool;

  constructor(settings: GateSettings) {
    super();
    this.#settings = settings;
    this.#any = toolElsewhere('', { description: '', schema: {} });
    // An exact name comes before a pattern, and an earlier pattern before a later one.
    const entries = Object.entries(settings.tools);
    const isPattern = ([name]: [string, GateTool]) => name.includes('*');
    for (const [name, tool] of [
      ...entries.filter((one) => !isPattern(one)),
      ...entries.filter(isPattern),
    ]) {
      this.set(name, toolElsewhere(name, tool));
    }
  }

  override get(name: string): Tool | undefined {
    const served = this.#servedAs(name);
    if (served !== undefined) return served;
    const found = this.#entryOf(name);
    if (found !== undefined) return { ...found, name };
    return this.#settings.unknown === 'deny' ? undefined : { ...this.#any, name };
  }

  /** Returns whether no entry matches a name. */
  isUnlisted(name: string): boolean {
    return this.#servedAs(name) === undefined && this.#entryOf(name) === undefined;
  }

  /** Returns the name under which a tool is listed, such as the pattern that matches it; `null` for no entry. */
  listedAs(name: string): string | null {
    return (this.#servedAs(name) ?? this.#entryOf(name))?.name ?? null;
  }

  #entryOf(name: string): Tool | undefined {
    return this.values().find((tool) => tool.isElsewhere === true && matchesName(tool.name, name));
  }

  /** Returns the tool of an MCP server. */
  #servedAs(name: string): Tool | undefined {
    const tool = super.get(name);
    return tool?.isElsewhere === true ? undefined : tool;
  }
}

/** Returns the schemas of a gate that cannot be used, each with its tool and the reason. */
export function gateProblems({ tools }: Pick<GateSettings, 'tools'>) {
  return Object.entries(tools).flatMap(([tool, { schema }]) => {
    try {
      checkSchema(schema);
      return [];
    } catch (error) {
      return [{ tool, message: `the schema of ${tool} cannot be used: ${messageOf(error)}` }];
    }
  });
}

function toolElsewhere(name: string, { description, schema }: GateTool): Tool {
  const compiled = compileLater(schema);
  return {
    name,
    description,
    parameters: schema,
    idempotent: false,
    isElsewhere: true,
    check: (args) => misfit(name, compiled, args),
    run: () => Promise.reject(new ToolError('this tool runs at another program; use POST /holds')),
  };
}

function misfit(tool: string, schema: () => CompiledSchema, args: JsonObject): string | null {
  return checkArguments(tool, schema(), args);
}
