import type { JsonObject } from '../../../machines/json.ts';
import { cutToRunes } from '../../../machines/text.ts';
import { redactSecrets } from '../../governance/governance.ts';
import { type Clock, type Tool, ToolError, type ToolRun } from '../../ports.ts';
import { calledOff, type Ending, endedCall, failedCall } from './call-failure.ts';
import { isLoss } from './connection-fault.ts';
import type { McpConnection } from './mcp-connection.ts';
import type { CallResult, McpSession } from './mcp-session.ts';
import type { OfferedTool } from './offered-tool.ts';
import { resultText } from './result-text.ts';
import { WaitAtServer } from './wait-at-server.ts';

/** What a tool of a server is made from. */
export interface McpToolParts {
  /** Name under which the agent has it. */
  name: string;
  offered: OfferedTool;
  idempotent: boolean;
  connection: Pick<McpConnection, 'session' | 'fault'>;
  /** What the agent signs in at the server with; never in a result. */
  secrets: readonly string[];
  clock: Clock;
  /** The name of the server. */
  server: string;
  /** Returns where it is asked, or what it is started from: the same definition elsewhere is another tool. */
  place: () => Promise<JsonObject>;
  /** 60 s, 24 h and 10 s when left out. */
  limits?: Partial<CallLimits>;
}

/** How long a call may take (ms). */
export interface CallLimits {
  /** From its start, and from each progress that the server reports, to its result. */
  timeout: number;
  /** From its start to its result, with or without progress. */
  total: number;
  /** For a server that is not there. */
  connect: number;
}

const usualLimits: CallLimits = { timeout: 60_000, total: 86_400_000, connect: 10_000 };

/** The longest result that is handed on, in bytes, as that of a script. */
const longestResult = 1024 * 1024;

/** The longest error that is handed on, in characters. */
const longestError = 4_000;

/**
 * Makes a tool of one that an MCP server offers (contract section 13). Its arguments are checked by the server, and
 * here only for what is missing or not known, so that nobody is asked to release what cannot run: a schema of a
 * stranger is no program to run here. A call that is stopped is called off at the server.
 */
export function mcpTool(parts: McpToolParts): Tool {
  const { name, offered, idempotent } = parts;
  return {
    ...{ name, idempotent },
    description: offered.description,
    parameters: offered.parameters,
    async identity() {
      const session = await sessionFor(parts, new AbortController().signal);
      const { server, place } = parts;
      return {
        server,
        place: await place(),
        sha256: await session.digestOf(offered.name, offered.sha256),
      };
    },
    check: (args) => misfit(name, offered.parameters, args),
    async run(args, run) {
      const problem = misfit(name, offered.parameters, args);
      if (problem !== null) throw new ToolError(problem, { kind: 'invalid arguments' });
      const session = await sessionFor(parts, run.signal);
      await run.confirm?.();
      const result = await called(session, parts, args, run);
      return textOf(name, result, parts.secrets);
    },
  };
}

async function sessionFor(
  { name, connection, clock, limits }: McpToolParts,
  signal: AbortSignal,
): Promise<McpSession> {
  const { connect } = { ...usualLimits, ...limits };
  const late = new AbortController();
  const timer = clock.setTimeout(() => late.abort(), connect);
  const session = await connection.session(AbortSignal.any([signal, late.signal]));
  clock.clearTimeout(timer);
  if (signal.aborted) throw endedCall(name, 'stopped');
  if (session !== null) return session;
  const why = connection.fault === null ? '' : ` (it ${connection.fault})`;
  const message = `${name} was not run: its server is not connected${why}; try again later`;
  throw new ToolError(message, { kind: 'not connected' });
}

async function called(
  session: McpSession,
  parts: McpToolParts,
  args: JsonObject,
  run: ToolRun,
): Promise<CallResult> {
  const { name, offered, clock, limits } = parts;
  const { timeout, total } = { ...usualLimits, ...limits };
  const late = new AbortController();
  const expire = (): void => late.abort();
  const whole = clock.setTimeout(expire, total);
  let timer = clock.setTimeout(expire, timeout);
  const wait = new WaitAtServer(parts.server, run.onWait);
  const onProgress = (said: object): void => {
    clock.clearTimeout(timer);
    timer = clock.setTimeout(expire, timeout);
    wait.hear(said);
  };
  try {
    const signal = AbortSignal.any([run.signal, late.signal]);
    return await session.call(offered.name, args, { signal, onProgress });
  } catch (error) {
    const ending = endingOf(session, run.signal, late.signal);
    if (ending === 'timeout' && (await wait.hasNeverRun(session))) {
      throw calledOff(name, parts.server, wait.said);
    }
    if (ending !== null) throw endedCall(name, ending);
    if (isLoss(error)) session.lose(error);
    throw failedCall(name, error);
  } finally {
    clock.clearTimeout(timer);
    clock.clearTimeout(whole);
    wait.end();
  }
}

function endingOf(session: McpSession, signal: AbortSignal, late: AbortSignal): Ending | null {
  if (signal.aborted) return 'stopped';
  if (late.aborted) return 'timeout';
  return session.isOpen ? null : 'lost';
}

function textOf(name: string, result: CallResult, secrets: readonly string[]): string {
  const text = redactSecrets(written(name, result), secrets);
  if (Buffer.byteLength(text) > longestResult) {
    throw new ToolError(`${name} returned more than a tool may (1 MiB); ask it for less`, {
      kind: 'too much output',
    });
  }
  if (result.isError !== true) return text;
  const why = cutToRunes(text.trim(), longestError);
  throw new ToolError(`${name} failed${why === '' ? '' : `: ${why}`}`, { kind: 'failed' });
}

/** What goes too deep to be written is no result. */
function written(name: string, result: CallResult): string {
  try {
    return resultText(result);
  } catch (error) {
    throw new ToolError(`${name} returned what cannot be written as text`, { cause: error });
  }
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
