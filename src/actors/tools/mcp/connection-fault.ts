import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { EgressError, egressCause } from '../../outbound/outbound.ts';
import { quoteOf, ServerFault } from './server-fault.ts';

/** What a server answers that asks for somebody else, or for nobody. */
const refusedStatuses: ReadonlySet<number> = new Set([401, 403]);

/** What a server answers that has forgotten the session, as one does that was started again. */
const forgotten: ReadonlySet<number> = new Set([400, 404]);

/** Says what stands between the agent and a server, for whatever the SDK throws. */
export function connectionFault(error: unknown): ServerFault {
  if (error instanceof ServerFault) return error;
  const options = { cause: error };
  const refusal = egressCause(error);
  if (refusal !== null) {
    const isLasting = refusal instanceof EgressError;
    return new ServerFault(`could not be asked (${refusal.message})`, { isLasting, ...options });
  }
  if (error instanceof StreamableHTTPError) return httpFault(error);
  if (error instanceof McpError) {
    return new ServerFault(`answered with an error (${quoteOf(error.message)})`, options);
  }
  const code = codeOf(error);
  if (code !== null) return new ServerFault(`could not be reached (${code})`, options);
  return new ServerFault('does not speak MCP as it should', options);
}

/** Tells whether a call failed because the way to the server is gone, and not for a reason of the call's own. */
export function isLoss(error: unknown): boolean {
  if (error instanceof StreamableHTTPError) {
    const status = error.code ?? 0;
    return forgotten.has(status) || refusedStatuses.has(status);
  }
  return error instanceof ServerFault || (egressCause(error) === null && codeOf(error) !== null);
}

function httpFault(error: StreamableHTTPError): ServerFault {
  const options = { cause: error };
  const status = error.code ?? 0;
  if (refusedStatuses.has(status)) {
    const message = `did not let the agent in (HTTP ${status}); look at its headers in service.yaml`;
    return new ServerFault(message, { isLasting: true, ...options });
  }
  return status < 100
    ? new ServerFault('does not speak MCP as it should', options)
    : new ServerFault(`answered with HTTP ${status}`, options);
}

/** What a client throws may quote what was sent, so only codes of it are repeated. */
function codeOf(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) return code;
  }
  return null;
}
