import type { JsonObject } from '../../../machines/json.ts';
import { type Tool, ToolError } from '../../ports/tool.ts';
import { failedCall, UndoneCall, undoneCall } from './call-failure.ts';
import { sessionFor } from './call-parts.ts';
import { isLoss } from './connection-fault.ts';
import type { McpSession } from './mcp-session.ts';
import { resultText } from './remote-call.ts';
import { ServerCall, type ServerCallParts } from './server-call.ts';

export interface McpToolParts extends ServerCallParts {
  idempotent: boolean;
}

/**
 * Creates an agent's tool from an MCP server's tool (docs/contract/models.md). The server validates arguments; here
 * only missing and unknown ones are detected, so that no approver is asked about a call that cannot run. Untrusted
 * schemas are not compiled. Stopping a call cancels it at the server.
 */
export function mcpTool(parts: McpToolParts): Tool {
  const { name, offered, idempotent } = parts;
  return {
    name,
    idempotent,
    description: offered.description,
    parameters: offered.parameters,
    ...(offered.annotations === undefined ? {} : { annotations: offered.annotations }),
    ...(offered.outputSchema === undefined ? {} : { outputSchema: offered.outputSchema }),
    async identity() {
      const { server, place } = parts;
      const { signal } = new AbortController();
      const sha256 = await onceMore(parts, signal, (session) => digestOf(session, parts));
      return { server, place: await place(), sha256 };
    },
    check: (args) => misfit(name, offered.parameters, args),
    async run(args, run) {
      const problem = misfit(name, offered.parameters, args);
      if (problem !== null) throw new ToolError(problem, { kind: 'invalid arguments' });
      await run.confirm?.();
      return onceMore(parts, run.signal, async (session, isAgain) => {
        if (isAgain) {
          if ((await digestOf(session, parts)) !== offered.sha256) throw changed(name);
          await run.confirm?.();
        }
        return resultText(parts, await new ServerCall(session, parts, args, run).result(), run);
      });
    },
  };
}

/**
 * Uses the current session, and a new one if its server has certainly executed nothing: an approval may arrive after
 * the server has forgotten the session.
 */
async function onceMore<Result>(
  parts: McpToolParts,
  signal: AbortSignal,
  use: (session: McpSession, isAgain: boolean) => Promise<Result>,
): Promise<Result> {
  try {
    return await use(await sessionFor(parts, signal), false);
  } catch (error) {
    if (!(error instanceof UndoneCall) || signal.aborted) throw error;
    return use(await sessionFor(parts, signal), true);
  }
}

/** Returns the current hash of the tool at its server. */
async function digestOf(
  session: McpSession,
  { name, offered }: McpToolParts,
): Promise<string | null> {
  try {
    return await session.digestOf(offered.name, offered.sha256);
  } catch (error) {
    if (!isLoss(error)) throw failedCall(name, error);
    session.lose(error);
    throw undoneCall(name, error);
  }
}

function changed(name: string): ToolError {
  const message = `${name} was not run: its server was connected again, and what would run has changed`;
  return new ToolError(message, { kind: 'changed' });
}

function misfit(name: string, parameters: JsonObject, args: JsonObject): string | null {
  const { required, properties, additionalProperties } = parameters;
  const needed = Array.isArray(required) ? required.filter((key) => typeof key === 'string') : [];
  const missing = needed.find((key) => !Object.hasOwn(args, key));
  if (missing !== undefined) return `${name}: argument ${missing} is missing`;
  if (additionalProperties !== false || 'patternProperties' in parameters) return null;
  const known = typeof properties === 'object' && properties !== null ? properties : {};
  const unknown = Object.keys(args).find((key) => !Object.hasOwn(known, key));
  return unknown === undefined ? null : `${name}: argument ${unknown} is not known`;
}
