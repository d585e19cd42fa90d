import type { JsonObject } from '../../../machines/json.ts';
import { deadline } from '../../deadline.ts';
import type { Clock } from '../../ports/clock.ts';
import { ToolError } from '../../ports/tool.ts';
import type { CallLimits } from './call-deadline.ts';
import { endedCall } from './call-failure.ts';
import type { McpConnection } from './mcp-connection.ts';
import type { McpSession } from './mcp-session.ts';

/** The tool, server and limits of a call. */
export interface CallParts {
  /** The agent's name for the tool. */
  name: string;
  /** Name of the server. */
  server: string;
  connection: Pick<McpConnection, 'session' | 'fault' | 'followed'>;
  /** The agent's credentials for the server; redacted from results. */
  secrets: readonly string[];
  /** True if people answer the questions of the server. */
  asks: boolean;
  /** Returns the server's URL or program: the same definition on another server is a different tool. */
  place: () => Promise<JsonObject>;
  clock: Clock;
  /** 60 s, 24 h and 10 s by default. */
  limits?: Partial<CallLimits>;
}

const usualLimits: CallLimits = { timeout: 60_000, total: 86_400_000, connect: 10_000 };

/** Returns the time limits of a call. */
export function limitsOf({ limits }: Pick<CallParts, 'limits'>): CallLimits {
  return { ...usualLimits, ...limits };
}

/** Returns the session of a call that begins. Rejects with ToolError: without a session, nothing has run. */
export async function sessionFor(parts: CallParts, signal: AbortSignal): Promise<McpSession> {
  const { name, connection } = parts;
  const session = await currentSession(parts, signal);
  if (signal.aborted) throw endedCall(name, 'stopped');
  if (session !== null) return session;
  const why = connection.fault === null ? '' : ` (it ${connection.fault})`;
  const message = `${name} was not run: its server is not connected${why}; try again later`;
  throw new ToolError(message, { kind: 'not connected' });
}

/** Returns the session of the server, and waits for a lost one; `null` if it is lost for too long. */
export async function currentSession(
  parts: CallParts,
  signal: AbortSignal,
): Promise<McpSession | null> {
  const limit = deadline(parts.clock, limitsOf(parts).connect);
  const session = await parts.connection.session(AbortSignal.any([signal, limit.signal]));
  limit.clear();
  return session;
}
