import { WebClient, type WebClientOptions } from '@slack/web-api';
import pLimit from 'p-limit';
import { egressCause } from '../../../outbound/outbound.ts';
import type { Log } from '../../../ports/log.ts';
import { slackLog } from './slack-log.ts';

export interface SlackClientOptions {
  token: string;
  /** With a trailing slash. */
  apiUrl: string;
  /** A fetch under the egress policy, in the caller's scope. */
  fetch: typeof globalThis.fetch;
  log: Log;
  /** Retries after a transient failure; three by default. */
  retries?: number;
}

type SlackFetch = NonNullable<WebClientOptions['fetch']>;

/** Timeout of one request, in milliseconds. */
const patience = 10_000;

/** Maximum concurrent requests. */
const mostRequests = 4;

/** Retry pauses, short enough for a user who waits after a click; longer pauses are up to the caller. */
const pauses = {
  minTimeout: 250,
  factor: 2,
  randomize: true,
  onFailedAttempt(error: Error) {
    if (isPointless(error)) throw error;
  },
};

/**
 * Creates a client of Slack's Web API that contacts no other host. It retries three times within two seconds, and
 * rejects at once on a rate limit, so that the caller decides about the pause.
 */
export function createSlackClient(options: SlackClientOptions): WebClient {
  const { token, apiUrl, fetch, log, retries = 3 } = options;
  const retryConfig = { ...pauses, retries };
  return new WebClient(token, {
    slackApiUrl: apiUrl,
    logger: slackLog(log),
    fetch: patientFetch(fetch),
    retryConfig,
    allowAbsoluteUrls: false,
    rejectRateLimitedCalls: true,
    // Unlimited here: the library's queue would send a waiting request in the scope of another call.
    maxRequestConcurrency: Number.POSITIVE_INFINITY,
  });
}

/** Limits concurrent requests, and gives each request its own ten seconds from the moment it is sent. */
function patientFetch(fetch: typeof globalThis.fetch): SlackFetch {
  const limit = pLimit(mostRequests);
  const send: SlackFetch = (url, init) =>
    limit(() => fetch(url, { ...init, signal: AbortSignal.timeout(patience) } as RequestInit));
  return send;
}

/** Returns whether a retry is pointless: an egress refusal and an abort are permanent. */
function isPointless(error: Error): boolean {
  const { cause } = error;
  return egressCause(error) !== null || (cause instanceof Error && cause.name === 'AbortError');
}
