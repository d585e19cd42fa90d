import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import * as z from 'zod';
import { formatDuration } from '../../../machines/duration.ts';
import { messageOf } from '../../../machines/message-of.ts';
import { EgressError, egressCause } from '../../outbound/outbound.ts';
import { unopened } from '../unopened.ts';
import { HttpRefusal } from './http-refusal.ts';
import { quoteOf, ServerFault } from './server-fault.ts';

/** Status codes for a connection with wrong credentials. */
const refusedStatuses: ReadonlySet<number> = new Set([401, 403]);

/** Status codes for a lost session or wrong credentials. */
const lostStatuses: ReadonlySet<number> = new Set([401, 404]);

/** The latest version of MCP that the agent supports. */
const latestVersion = '2026-07-28';

/** Converts any error of the SDK to a fault of the connection. */
export function connectionFault(error: unknown): ServerFault {
  const fault = faultIn(error);
  if (fault !== null) return fault;
  const options = { cause: error };
  const refusal = egressCause(error);
  if (refusal !== null) {
    const isLasting = refusal instanceof EgressError;
    return new ServerFault(`could not be asked (${refusal.message})`, { isLasting, ...options });
  }
  if (error instanceof HttpRefusal) return httpFault(error);
  if (error instanceof ProtocolError) return rpcFault(error);
  if (error instanceof SdkHttpError) {
    return new ServerFault(`answered with HTTP ${error.status}`, options);
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return new ServerFault('did not answer in time', options);
  }
  const version = unknownVersion.exec(error instanceof Error ? error.message : '')?.[1];
  if (version !== undefined) return otherGeneration(version, error);
  const code = codeOf(error);
  if (code !== null) return new ServerFault(`could not be reached (${code})`, options);
  const why = misspoken(error);
  return new ServerFault(`does not follow MCP${why === '' ? '' : ` (${why})`}`, options);
}

/** Returns the fault in an error; the SDK wraps those of its first request. */
function faultIn(error: unknown): ServerFault | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ServerFault) return cause;
  }
  return null;
}

/** Returns whether a call failed because the connection is lost, not for a reason of its own. */
export function isLoss(error: unknown): boolean {
  if (error instanceof HttpRefusal) return error.isSessionGone || lostStatuses.has(error.status);
  return faultIn(error) !== null || (egressCause(error) === null && codeOf(error) !== null);
}

/** Returns whether the server has certainly not executed a failed call. */
export function isUndone(error: unknown): boolean {
  if (error instanceof HttpRefusal) return error.isSessionGone;
  const fault = faultIn(error);
  if (fault !== null) return fault.isUnsent;
  const code = egressCause(error) === null ? codeOf(error) : null;
  return code !== null && unopened.has(code);
}

function httpFault(error: HttpRefusal): ServerFault {
  const { status, retryAfter, wantsOAuth, isSessionGone: isForgotten } = error;
  const options = { cause: error, retryAfter, isForgotten };
  if (refusedStatuses.has(status)) {
    const fix = wantsOAuth
      ? 'it wants OAuth, so write its auth in service.yaml'
      : 'check its headers in service.yaml';
    const message = `refused the agent (HTTP ${status}); ${fix}`;
    return new ServerFault(message, { isLasting: true, ...options });
  }
  if (status === 405) {
    const message =
      'answered with HTTP 405, as a server of the HTTP+SSE transport of 2024-11-05 does; write its address for streamable HTTP as url';
    return new ServerFault(message, { isLasting: true, ...options });
  }
  const pause = retryAfter === null ? '' : `; retry after ${formatDuration(retryAfter)}`;
  return new ServerFault(`answered with HTTP ${status}${pause}`, options);
}

/** The SDK's message for an unsupported protocol version. */
const unknownVersion = /protocol version is not supported: (.{1,40})$/;

const otherVersions = z.object({ supported: z.array(z.string().max(20)).min(1).max(20) });

function rpcFault(error: ProtocolError): ServerFault {
  const { data: versions } = otherVersions.safeParse(error.data);
  if (versions === undefined) {
    return new ServerFault(`answered with an error (${quoteOf(error.message)})`, { cause: error });
  }
  return otherGeneration(versions.supported.join(', '), error);
}

/** A server of the agent's version only failed to answer the first request. */
function otherGeneration(versions: string, cause: unknown): ServerFault {
  const message = `speaks MCP ${quoteOf(versions)}, and the agent ${latestVersion} and older`;
  return new ServerFault(message, { isLasting: !versions.includes(latestVersion), cause });
}

/** Returns the name of the field that violates MCP. */
function misspoken(error: unknown): string {
  if (error instanceof SyntaxError) return 'its answer is no JSON';
  if (error instanceof SdkError && error.cause instanceof Error) return misspoken(error.cause);
  if (error instanceof SdkError && error.code === SdkErrorCode.ClientHttpUnexpectedContent) {
    return 'its answer is neither JSON nor events';
  }
  const path =
    error instanceof z.ZodError ? pathOf(error) : (invalidField.exec(messageOf(error))?.[1] ?? '');
  return path === '' ? '' : `${quoteOf(path)} of its answer is not what MCP has there`;
}

/** The SDK's message for a result with an invalid field. */
const invalidField = /^Invalid result for [^"]{1,200}"[^[]{1,500}"path": \[\s{0,20}"([^"]{1,100})"/;

function pathOf({ issues }: z.ZodError): string {
  return issues[0]?.path.map(String).join('.') ?? '';
}

/** Returns only the code of a client's error, whose message may quote sent data. */
function codeOf(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof SdkError) continue;
    const { code } = cause as NodeJS.ErrnoException;
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) return code;
  }
  return null;
}
