import { STATUS_CODES } from 'node:http';
import type { Log } from '../../ports/log.ts';
import { EgressError, egressCause } from '../egress/egress.ts';
import type { Pass } from './passes.ts';

/** A response of the proxy itself, instead of the requested one. */
export interface Answer {
  status: number;
  /** Plain text, without a final newline. */
  text: string;
}

/** Maximum refusals recorded in a pass. */
const mostRefusals = 3;

const timeoutCodes = new Set([
  'ETIMEDOUT',
  'ABORT_ERR',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/**
 * Returns the response to a failure on the way to a host: 403 for a policy refusal, 504 for a timeout, else 502. The
 * text repeats nothing of the request. The pass records policy refusals.
 */
export function failureAnswer(
  error: unknown,
  host: string,
  { log, pass }: { log: Log; pass: Pick<Pass, 'refusals'> },
): Answer {
  const cause = egressCause(error);
  if (cause instanceof EgressError) {
    if (pass.refusals.size < mostRefusals) pass.refusals.add(cause.message);
    return { status: 403, text: cause.message };
  }
  if (cause !== null) return { status: 504, text: cause.message };
  const code = codeOf(error);
  const isSlow = timeoutCodes.has(code) || (error as Error | null)?.name === 'TimeoutError';
  if (isSlow) return { status: 504, text: `${host} did not answer in time` };
  if (code === 'unknown') {
    const name = error instanceof Error ? error.name : typeof error;
    log.error({ host, error: name }, 'the egress proxy failed; the request was refused');
  }
  return { status: 502, text: `${host} could not be reached (${code})` };
}

function codeOf(error: unknown): string {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; depth += 1) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    cause = cause instanceof AggregateError ? cause.errors[0] : cause.cause;
  }
  return 'unknown';
}

/** Returns the headers of a response. */
export function answerHeaders({ status, text }: Answer): Record<string, string> {
  return {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(text)),
    Connection: 'close',
    ...(status === 407 ? { 'Proxy-Authenticate': 'Basic realm="holdpoint"' } : {}),
  };
}

/** Encodes a complete response, for a connection that the HTTP server has released. */
export function answerBytes(answer: Answer): string {
  const head = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`,
    ...Object.entries(answerHeaders(answer)).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${head.join('\r\n')}\r\n\r\n${answer.text}`;
}
