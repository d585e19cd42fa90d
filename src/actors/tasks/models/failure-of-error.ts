import { causesOf, connectionCode, isBrokenOff } from '../../../machines/error-code.ts';
import { PageError, TooLongError } from '../../providers/providers.ts';
import { readRetryAfter } from '../../read-retry-after.ts';
import { failureOfStatus } from './failure-of-status.ts';
import { ModelFailure } from './model-failure.ts';
import { type ModelSubject, nameOf, placeOf } from './model-subject.ts';
import type { OfferedName } from './refused-tool.ts';

/**
 * Converts an error of a provider's package, or an error in a stream, to our own words. Its message is dropped: it may
 * quote the key, the sent text or the response body. `tools` are the offered tools, `now` is in epoch milliseconds.
 */
export async function failureOfError(
  error: unknown,
  subject: ModelSubject,
  { now, tools = [] }: { now: number; tools?: readonly OfferedName[] },
): Promise<ModelFailure> {
  if (error instanceof ModelFailure) return error;
  const stopped = egressFailure(error, subject);
  if (stopped !== null) return stopped;
  if (causesOf(error).some((cause) => cause instanceof TooLongError)) return tooLong(subject);
  if (error instanceof PageError) return unreadable(subject);
  const { APICallError, RetryError } = await import('ai');
  const last = RetryError.isInstance(error) ? error.lastError : error;
  if (APICallError.isInstance(last)) {
    const { statusCode, responseHeaders = {}, message, responseBody = '' } = last;
    const retryAfter = readRetryAfter(responseHeaders['retry-after'] ?? null, now);
    const said = `${message} ${responseBody.slice(0, 10_000)}`;
    if (statusCode === undefined) return failureOfConnection(last, subject);
    if (statusCode < 200 || statusCode >= 300) {
      return failureOfStatus(statusCode, subject, { retryAfter, message: said, tools });
    }
    // A connection that breaks during an answer is reported with the status of its response.
    return connectionCode(last) === null ? unreadable(subject) : brokenOff(subject);
  }
  return failureInStream(last, subject, tools);
}

/** A refusal by the egress policy keeps its own message; such errors are recognised by their codes. */
function egressFailure(error: unknown, subject: ModelSubject): ModelFailure | null {
  for (const cause of causesOf(error)) {
    const { code } = cause as { code?: unknown };
    if (code === 'egress_blocked') return new ModelFailure('refused', cause.message);
    if (code === 'egress_limit') {
      return new ModelFailure('late', `${placeOf(subject)} did not answer in time`);
    }
  }
  return null;
}

/** Creates the failure for an incomplete answer. */
export function brokenOff(subject: ModelSubject): ModelFailure {
  return new ModelFailure('broken', `the answer of ${nameOf(subject)} broke off; try again`);
}

/** Creates the failure for an answer above the size limit. */
export function tooLong(subject: ModelSubject): ModelFailure {
  const text = `the answer of ${nameOf(subject)} is longer than 1 MiB; ask for less at once`;
  return new ModelFailure('unusable', text);
}

const statusOfType: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  timeout_error: 408,
  api_error: 500,
  server_error: 500,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  invalid_request_error: 400,
  context_length_exceeded: 413,
};

/** Providers report an error in a stream as an object of their own format, or simply close the connection. */
function failureInStream(
  error: unknown,
  subject: ModelSubject,
  tools: readonly OfferedName[],
): ModelFailure {
  if (isNetworkError(error)) return brokenOff(subject);
  if (typeof error !== 'object' || error === null) return brokenOff(subject);
  const { name, message, statusCode, type, code } = error as Record<string, unknown>;
  if (name === 'AI_JSONParseError' || name === 'AI_TypeValidationError') return unreadable(subject);
  // The packages throw this error for a stream without a finish reason.
  if (name === 'AI_InvalidResponseDataError') return brokenOff(subject);
  const status = [
    statusCode,
    statusOfType[String(code)],
    statusOfType[String(type)],
    Number(code),
  ].find((found) => typeof found === 'number' && found >= 400 && found < 600);
  const said = typeof message === 'string' ? message : '';
  const details = { retryAfter: null, message: said, tools };
  if (typeof status === 'number') return failureOfStatus(status, subject, details);
  return new ModelFailure(
    'broken',
    `${nameOf(subject)} reported an error in its answer; try again`,
  );
}

function unreadable(subject: ModelSubject): ModelFailure {
  const text = `the answer of ${placeOf(subject)} could not be read; check that model.base_url serves the API of ${subject.provider}`;
  return new ModelFailure('unusable', text);
}

function failureOfConnection(error: unknown, subject: ModelSubject): ModelFailure {
  if (isBrokenOff(error)) return brokenOff(subject);
  const code = connectionCode(error);
  const why = code === null ? '' : ` (${code})`;
  const fix =
    subject.provider === 'ollama'
      ? 'start it with ollama serve, or fix model.base_url'
      : 'check model.base_url and the network';
  const text = `${placeOf(subject)} could not be reached${why}; ${fix}`;
  return new ModelFailure('unreachable', text);
}

function isNetworkError(error: unknown): boolean {
  return error instanceof TypeError || connectionCode(error) !== null;
}
