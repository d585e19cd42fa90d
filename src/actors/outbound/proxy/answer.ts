import { STATUS_CODES } from 'node:http';
import type { Log } from '../../ports.ts';
import { EgressError, egressCause } from '../egress/egress.ts';
import type { Pass } from './passes.ts';

/** What the proxy itself says instead of what was asked for. */
export interface Answer {
  status: number;
  /** Plain text, without a final newline. */
  text: string;
}

/** Refusals that a pass keeps. */
const mostRefusals = 3;

const timeoutCodes = new Set([
  'ETIMEDOUT',
  'ABORT_ERR',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/**
 * Answers a failure on the way to a host: 403 when the policy refused it, 504 when it took too long,
 * else 502. No text repeats what was sent. The pass keeps what the policy refused to it.
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

/** Headers of an answer. */
export function answerHeaders({ status, text }: Answer): Record<string, string> {
  return {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(text)),
    Connection: 'close',
    ...(status === 407 ? { 'Proxy-Authenticate': 'Basic realm="holdpoint"' } : {}),
  };
}

/** Encodes an answer as a whole response, for a connection that the HTTP server has released. */
export function answerBytes(answer: Answer): string {
  const head = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`,
    ...Object.entries(answerHeaders(answer)).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${head.join('\r\n')}\r\n\r\n${answer.text}`;
}
