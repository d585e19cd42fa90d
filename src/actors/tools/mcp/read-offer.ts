import { createHash } from 'node:crypto';
import { ListToolsResultSchema } from '@modelcontextprotocol/core';
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

/** Maximum characters of a description given to a model. */
const longestDescription = 2_000;

/** Tool names allowed by MCP; names that a model provider refuses are mapped later. */
const toolName = /^[A-Za-z0-9_./-]+$/;

/** Maximum characters of the agent's name for a tool. */
const longestName = 128;

/** Annotations that are passed to MCP clients. */
const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** Result of reading a server's tool list. */
export interface ReadOffer {
  tools: OfferedTool[];
  unusable: UnusableTool[];
  /** True for a server that does not declare tools. */
  isWithoutTools?: true;
}

/**
 * Reads a server's untrusted tool list. Invalid tools, tools that no model could call, and all but the first of several
 * with the same name are omitted, each with its reason. Hyphens and underscores in names are equivalent, so that a rule
 * for one name cannot be bypassed through the other.
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
  const schema = checkedSchema(inputSchema);
  const tool = {
    name,
    description: cutToRunes(
      clean(typeof described === 'string' ? described : '').trim(),
      longestDescription,
    ),
    parameters: checkedSchema(objectSchema(schema)) as JsonObject,
    ...(canDetach(execution) ? { hasTasks: true as const } : {}),
    ...shownOf(said),
  };
  const listed = { ...tool, inputSchema: tool.parameters };
  if (!ListToolsResultSchema.safeParse({ tools: [listed] }).success) {
    throw new UnfitToolError('has an inputSchema that MCP clients refuse');
  }
  return { ...tool, sha256: digestOf(tool.description, schema) };
}

function canDetach(execution: JsonValue = null): boolean {
  if (!isJsonObject(execution)) return false;
  const { taskSupport } = execution;
  return taskSupport === 'required' || taskSupport === 'optional';
}

/** Returns the parts of a tool shown to MCP clients in addition to its name, description and arguments. */
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

/** Returns the structure of results; `null` if a client cannot validate results with it. */
function outputOf(said: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(said)) return null;
  try {
    return objectSchema(checkedSchema(said), { isBare: true });
  } catch (error) {
    if (error instanceof UnfitToolError) return null;
    throw error;
  }
}

/** Hashes the server's original text, so that an accepted tool stays accepted if the normalisation changes. */
function digestOf(description: string, schema: JsonValue): string {
  const canonical = canonicalize({ description, parameters: schema ?? {} }) ?? '';
  return createHash('sha256').update(canonical).digest('hex');
}
