import { egressCause } from '../../outbound/outbound.ts';
import { type Tool, ToolError, type ToolRun } from '../../ports.ts';
import { builtinTool } from './builtin-tool.ts';
import { httpArgumentsProblem, httpParameters, httpRequestOf } from './http-arguments.ts';
import { bodyText } from './http-body-text.ts';

/** How long a request may take from its start to the last byte, in milliseconds. */
const timeout = 30_000;

const longestHeader = 1_000;

/** The headers of an answer that are passed on. */
const shownHeaders = [
  'content-type',
  'location',
  'etag',
  'last-modified',
  'link',
  'retry-after',
  'allow',
];

/**
 * Sends one HTTP request through the egress policy and tells what came back, as JSON
 * `{status, headers, body}` with at most 1 MiB of text (contract sections 11 and 13). Rejects with a
 * ToolError that holds nothing but the policy's words when the policy refuses. Without egress it
 * reaches nothing.
 */
export function httpRequest(): Tool {
  return builtinTool({
    name: 'http_request',
    description:
      'Sends an HTTP request and returns its status, some of its headers and its body as text.',
    parameters: httpParameters,
    idempotent: false,
    check(args) {
      const problem = httpArgumentsProblem(args);
      return problem === null ? null : `http_request: ${problem}`;
    },
    async run(args, run) {
      const { url, init } = httpRequestOf(args);
      return JSON.stringify(await send(url, init, run));
    },
  });
}

async function send(url: URL, init: RequestInit, { outbound, signal }: ToolRun) {
  if (outbound === undefined) {
    throw new ToolError('http_request: nothing can be reached from here', { kind: 'unreachable' });
  }
  const late = AbortSignal.timeout(timeout);
  const over = new AbortController();
  try {
    const stop = AbortSignal.any([signal, late, over.signal]);
    const response = await outbound.fetch(url, { ...init, signal: stop });
    const { status, headers } = response;
    return { status, headers: toldOf(headers), body: await bodyText(response) };
  } catch (error) {
    if (signal.aborted) {
      throw new ToolError('http_request was stopped because its task was', { kind: 'stopped' });
    }
    if (late.aborted) {
      throw new ToolError(`http_request: ${url.host} did not answer in 30 s`, { kind: 'timeout' });
    }
    throw toolErrorOf(error, url);
  } finally {
    // Whatever the server still sends is not waited for.
    over.abort();
  }
}

function toldOf(headers: Headers): Record<string, string> {
  const present = shownHeaders.filter((name) => headers.has(name));
  return Object.fromEntries(
    present.map((name) => [name, (headers.get(name) ?? '').slice(0, longestHeader)]),
  );
}

/** What a client throws may quote what was sent, so only codes of it are repeated. */
function toolErrorOf(error: unknown, { host }: URL): ToolError {
  const refusal = egressCause(error);
  if (refusal !== null) return new ToolError(refusal.message, { kind: 'egress blocked' });
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) {
      return new ToolError(`http_request: ${host} could not be reached (${code})`, {
        kind: 'unreachable',
      });
    }
  }
  return new ToolError(`http_request: ${host} could not be reached`, { kind: 'unreachable' });
}
