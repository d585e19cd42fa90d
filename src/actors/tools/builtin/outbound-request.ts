import { egressCause } from '../../outbound/outbound.ts';
import { ToolError, type ToolRun } from '../../ports/tool.ts';
import { unopened } from '../unopened.ts';

/** Total timeout of a request, from start to last byte, in milliseconds. */
const timeout = 30_000;

/** A tool's request, and the conversion of its response. */
export interface OutboundRequest<Result> {
  tool: string;
  url: URL;
  init: RequestInit;
  read: (response: Response) => Promise<Result>;
}

/**
 * Sends a tool's request through the egress policy and reads the response, within 30 seconds. On a refusal by the
 * policy, rejects with a ToolError that contains only the policy's message. Without egress no host is reachable.
 */
export async function requestOutside<Result>(
  { tool, url, init, read }: OutboundRequest<Result>,
  { outbound, signal }: Pick<ToolRun, 'outbound' | 'signal'>,
): Promise<Result> {
  if (outbound === undefined) {
    throw new ToolError(`${tool}: nothing can be reached from here`, { kind: 'unreachable' });
  }
  const late = AbortSignal.timeout(timeout);
  const over = new AbortController();
  try {
    const stop = AbortSignal.any([signal, late, over.signal]);
    return await read(await outbound.fetch(url, { ...init, signal: stop }));
  } catch (error) {
    if (error instanceof ToolError) throw error;
    if (signal.aborted) {
      throw new ToolError(`${tool} was stopped because its task was`, {
        ...{ kind: 'stopped', isUnknown: true },
      });
    }
    if (late.aborted) {
      throw new ToolError(`${tool}: ${url.host} did not answer in 30 s`, {
        ...{ kind: 'timeout', isUnknown: true },
      });
    }
    throw toolErrorOf(error, tool, url);
  } finally {
    // Aborts without waiting for the rest of the response.
    over.abort();
  }
}

/** Repeats only codes of a client's error, whose message may quote sent data. */
function toolErrorOf(error: unknown, tool: string, { host }: URL): ToolError {
  const refusal = egressCause(error);
  if (refusal !== null) return new ToolError(refusal.message, { kind: 'egress blocked' });
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) {
      return new ToolError(`${tool}: ${host} could not be reached (${code})`, {
        ...{ kind: 'unreachable', isUnknown: !unopened.has(code) },
      });
    }
  }
  return new ToolError(`${tool}: ${host} could not be reached`, {
    ...{ kind: 'unreachable', isUnknown: true },
  });
}
