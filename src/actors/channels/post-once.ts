import { EgressError } from '../outbound/outbound.ts';
import type { Clock } from '../ports/clock.ts';
import type { Outbound } from '../ports/egress.ts';
import { readRetryAfter } from '../read-retry-after.ts';
import { DeliveryError } from './channel-adapter.ts';

export interface OncePost {
  /** Name of the receiver, used in messages instead of its URL, such as `the webhook "ops"`. */
  receiver: string;
  /** What to check after a refusal. */
  remedy: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** Timeout of a receiver's response, in milliseconds. */
const patience = 10_000;

/**
 * Posts once and resolves on any 2xx; does not follow redirects and does not read the response body. Rejects with
 * DeliveryError.
 */
export async function postOnce(
  post: OncePost,
  { outbound, clock, signal }: { outbound: Outbound; clock: Clock; signal: AbortSignal },
): Promise<void> {
  const late = new AbortController();
  const timer = clock.setTimeout(() => late.abort(), patience);
  try {
    const response = await outbound.fetch(post.url, {
      method: 'POST',
      redirect: 'manual',
      headers: post.headers,
      body: post.body,
      signal: AbortSignal.any([signal, late.signal]),
    });
    // Only the status counts; a failure of the body is ignored.
    await response.body?.cancel().catch(() => undefined);
    if (!response.ok) throw refusalOf(post, response, clock.now());
  } catch (error) {
    if (error instanceof DeliveryError) throw error;
    throw failureOf(post, error, late.signal.aborted);
  } finally {
    clock.clearTimeout(timer);
  }
}

function refusalOf(
  { receiver, remedy }: OncePost,
  { status, headers }: Response,
  now: number,
): DeliveryError {
  const answered = `${receiver} answered ${status}`;
  if (status === 408 || status === 429 || status >= 500) {
    const retryAfter = readRetryAfter(headers.get('retry-after'), now);
    return new DeliveryError(`${answered}; retrying`, { fault: 'later', retryAfter });
  }
  if (status === 410) {
    return new DeliveryError(`${answered}: the receiver is gone; use another one`, {
      fault: 'message',
    });
  }
  if (status === 413) {
    return new DeliveryError(`${answered}: the message is too long`, { fault: 'message' });
  }
  const advice =
    status < 400 ? 'a redirect is not followed, so write the address that it leads to' : remedy;
  return new DeliveryError(`${answered}; ${advice}`, { fault: 'target' });
}

/** Omits the original error: a client may quote the URL, and some URLs are secrets. */
function failureOf({ receiver }: OncePost, error: unknown, isLate: boolean): DeliveryError {
  if (error instanceof EgressError) {
    return new DeliveryError(`${receiver}: ${error.message}`, {
      fault: 'target',
    });
  }
  const reason = isLate ? `no answer within ${patience / 1_000} s` : codeOf(error);
  return new DeliveryError(`${receiver} cannot be reached (${reason}); retrying`, {
    fault: 'later',
  });
}

function codeOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
  }
  return 'no answer';
}
