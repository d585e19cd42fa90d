import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LATEST_PROTOCOL_VERSION, McpError } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { formatDuration } from '../../../machines/duration.ts';
import { EgressError, egressCause } from '../../outbound/outbound.ts';
import { HttpRefusal } from './http-refusal.ts';
import { quoteOf, ServerFault } from './server-fault.ts';

/** What a server answers that wants somebody else to greet it. */
const refusedStatuses: ReadonlySet<number> = new Set([401, 403]);

/** What a server answers that is gone, or wants somebody else to greet it. */
const lostStatuses: ReadonlySet<number> = new Set([401, 404]);

/** Codes of a connection that was never there, so that nothing was sent over it. */
const unopened: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'],
]);

/** Says what stands between the agent and a server, for whatever the SDK throws. */
export function connectionFault(error: unknown): ServerFault {
  if (error instanceof ServerFault) return error;
  const options = { cause: error };
  const refusal = egressCause(error);
  if (refusal !== null) {
    const isLasting = refusal instanceof EgressError;
    return new ServerFault(`could not be asked (${refusal.message})`, { isLasting, ...options });
  }
  if (error instanceof HttpRefusal) return httpFault(error);
  if (error instanceof McpError) return rpcFault(error);
  if (error instanceof StreamableHTTPError && (error.code ?? 0) > 0) {
    return new ServerFault(`answered with HTTP ${error.code}`, options);
  }
  const version = unknownVersion.exec(error instanceof Error ? error.message : '')?.[1];
  if (version !== undefined) return otherGeneration(version, error);
  const code = codeOf(error);
  if (code !== null) return new ServerFault(`could not be reached (${code})`, options);
  const why = misspoken(error);
  return new ServerFault(
    `does not speak MCP as it should${why === '' ? '' : ` (${why})`}`,
    options,
  );
}

/** Tells whether a call failed because the way to the server is gone, and not for a reason of the call's own. */
export function isLoss(error: unknown): boolean {
  if (error instanceof HttpRefusal) return error.isSessionGone || lostStatuses.has(error.status);
  return error instanceof ServerFault || (egressCause(error) === null && codeOf(error) !== null);
}

/** Tells whether the server has certainly done nothing of a call that failed. */
export function isUndone(error: unknown): boolean {
  if (error instanceof HttpRefusal) return error.isSessionGone;
  if (error instanceof ServerFault) return error.isUnsent;
  const code = egressCause(error) === null ? codeOf(error) : null;
  return code !== null && unopened.has(code);
}

function httpFault(error: HttpRefusal): ServerFault {
  const { status, retryAfter, wantsOAuth, isSessionGone: isForgotten } = error;
  const options = { cause: error, retryAfter, isForgotten };
  if (refusedStatuses.has(status)) {
    const mend = wantsOAuth
      ? 'it wants OAuth, so put a token into its headers in service.yaml'
      : 'look at its headers in service.yaml';
    const message = `did not let the agent in (HTTP ${status}); ${mend}`;
    return new ServerFault(message, { isLasting: true, ...options });
  }
  if (status === 405) {
    const message =
      'answered with HTTP 405, as a server of the HTTP+SSE transport of 2024-11-05 does; write its address for streamable HTTP as url';
    return new ServerFault(message, { isLasting: true, ...options });
  }
  const pause =
    retryAfter === null ? '' : `; it asks to be left alone for ${formatDuration(retryAfter)}`;
  return new ServerFault(`answered with HTTP ${status}${pause}`, options);
}

/** What the SDK says of a server that greets in another version. */
const unknownVersion = /protocol version is not supported: (.{1,40})$/;

const otherVersions = z.object({ supported: z.array(z.string().max(20)).min(1).max(20) });

function rpcFault(error: McpError): ServerFault {
  const { data: versions } = otherVersions.safeParse(error.data);
  if (versions === undefined) {
    return new ServerFault(`answered with an error (${quoteOf(error.message)})`, { cause: error });
  }
  return otherGeneration(versions.supported.join(', '), error);
}

function otherGeneration(versions: string, cause: unknown): ServerFault {
  const message = `speaks MCP ${quoteOf(versions)}, and the agent ${LATEST_PROTOCOL_VERSION} and older`;
  return new ServerFault(message, { isLasting: true, cause });
}

/** Names the field that is not as MCP has it. */
function misspoken(error: unknown): string {
  if (error instanceof SyntaxError) return 'its answer is no JSON';
  if (error instanceof StreamableHTTPError) return 'its answer is neither JSON nor events';
  const { issues } = Object(error) as { issues?: unknown };
  const [issue] = Array.isArray(issues) ? (issues as { path?: PropertyKey[] }[]) : [];
  const path = issue?.path?.map(String).join('.') ?? '';
  return path === '' ? '' : `${quoteOf(path)} of its answer is not what MCP has there`;
}

/** What a client throws may quote what was sent, so only codes of it are repeated. */
function codeOf(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) return code;
  }
  return null;
}
