import { createHash } from 'node:crypto';
import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import canonicalize from 'canonicalize';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import { cutToRunes } from '../../../machines/text.ts';
import { normalName } from '../../tool-name.ts';
import { checkedSchema, clean } from './checked-schema.ts';
import { mcpToolName } from './mcp-names.ts';
import type { OfferedTool, UnusableTool } from './offered-tool.ts';
import { quoteOf } from './server-fault.ts';
import { objectSchema } from './tool-schema.ts';
import { UnfitToolError } from './unfit-tool.ts';

/** The longest description that a model is given, in characters. */
const longestDescription = 2_000;

/** The names that MCP gives tools; one that a provider of models refuses is mapped on the way to it. */
const toolName = /^[A-Za-z0-9_./-]+$/;

/** The longest name under which the agent has a tool, in characters. */
const longestName = 128;

/** What MCP clients are shown of the annotations of a tool. */
const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** What a server's list comes to. */
export interface ReadOffer {
  tools: OfferedTool[];
  unusable: UnusableTool[];
  /** True for a server that does not say that it has tools. */
  isWithoutTools?: true;
}

/**
 * Reads the list of tools of a server, none of which is believed: what is no tool, what no model could call, and all
 * but the first of those with one name are left out, each with its reason. Names that differ in hyphens and underscores
 * alone are one, so that a rule for one cannot be sidestepped through the other.
 */
export function readOffer(server: string, list: readonly unknown[]): ReadOffer {
  const offer: ReadOffer = { tools: [], unusable: [] };
  const taken = new Set<string>();
  for (const entry of list) {
    const tool = isJsonObject(entry) ? entry : {};
    const { name } = tool;
    try {
      offer.tools.push(readTool(server, tool, taken));
      taken.add(normalName(name as string));
    } catch (error) {
      if (!(error instanceof UnfitToolError)) throw error;
      const { message: reason } = error;
      offer.unusable.push({ name: typeof name === 'string' ? quoteOf(name) : 'a tool', reason });
    }
  }
  return offer;
}

/** Throws UnfitToolError. */
function readTool(server: string, said: JsonObject, taken: ReadonlySet<string>): OfferedTool {
  const { name, description: described, execution, inputSchema = null } = said;
  if (typeof name !== 'string') throw new UnfitToolError('has no name');
  const room = longestName - mcpToolName(server, '').length;
  if (!toolName.test(name) || name.length > room) {
    throw new UnfitToolError(
      `has a name that no model can call; one is letters, digits, _, -, . and /, at most ${room} of them`,
    );
  }
  if (taken.has(normalName(name))) throw new UnfitToolError('is there twice');
  if (isJsonObject(execution) && execution['taskSupport'] === 'required') {
    throw new UnfitToolError('can be called as a task of MCP alone, which the agent does not do');
  }
  const schema = checkedSchema(inputSchema);
  const tool = {
    name,
    description: cutToRunes(
      clean(typeof described === 'string' ? described : '').trim(),
      longestDescription,
    ),
    parameters: checkedSchema(objectSchema(schema)) as JsonObject,
    ...shownOf(said),
  };
  const listed = { ...tool, inputSchema: tool.parameters };
  if (!ListToolsResultSchema.safeParse({ tools: [listed] }).success) {
    throw new UnfitToolError('has an inputSchema that MCP clients refuse');
  }
  return { ...tool, sha256: digestOf(tool.description, schema) };
}

/** What of a tool is shown to MCP clients beside its name, its description and its arguments. */
function shownOf({ annotations, outputSchema }: JsonObject): Partial<OfferedTool> {
  const said = isJsonObject(annotations) ? annotations : {};
  const told = hints.filter((hint) => typeof said[hint] === 'boolean');
  const output = outputOf(outputSchema);
  return {
    ...(told.length === 0
      ? {}
      : { annotations: Object.fromEntries(told.map((hint) => [hint, said[hint] ?? false])) }),
    ...(output === null ? {} : { outputSchema: output }),
  };
}

/** Returns the structure of results; `null` where there is none that a client could check results with. */
function outputOf(said: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(said)) return null;
  try {
    return objectSchema(checkedSchema(said), { isBare: true });
  } catch (error) {
    if (error instanceof UnfitToolError) return null;
    throw error;
  }
}

/** Of the words of the server, so that a tool that was accepted stays so whatever the normal form becomes. */
function digestOf(description: string, schema: JsonValue): string {
  const canonical = canonicalize({ description, parameters: schema ?? {} }) ?? '';
  return createHash('sha256').update(canonical).digest('hex');
}
