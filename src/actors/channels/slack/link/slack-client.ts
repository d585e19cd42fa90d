import { WebClient, type WebClientOptions } from '@slack/web-api';
import pLimit from 'p-limit';
import { egressCause } from '../../../outbound/outbound.ts';
import type { Log } from '../../../ports.ts';
import { slackLog } from './slack-log.ts';

export interface SlackClientOptions {
  token: string;
  /** Ends with a slash. */
  apiUrl: string;
  /** A fetch under the egress policy, in the caller's scope. */
  fetch: typeof globalThis.fetch;
  log: Log;
  /** Retries of a transient failure; three by default. */
  retries?: number;
}

type SlackFetch = NonNullable<WebClientOptions['fetch']>;

/** Timeout of one request, in milliseconds. */
const patience = 10_000;

/** Maximum concurrent requests. */
const mostRequests = 4;

/** Pauses short enough for a person who waits after a click; longer ones are up to the caller. */
const pauses = {
  minTimeout: 250,
  factor: 2,
  randomize: true,
  onFailedAttempt(error: Error) {
    if (isPointless(error)) throw error;
  },
};

/**
 * Makes a client of Slack's Web API that calls no other host, retries three times within two seconds, and rejects at
 * once when Slack limits its rate, so that the caller decides about the pause.
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
    // The queue of the library would send a request that waited in the scope of another call.
    maxRequestConcurrency: Number.POSITIVE_INFINITY,
  });
}

/** Gives each request its own ten seconds, from when it is sent, and bounds how many are sent at once. */
function patientFetch(fetch: typeof globalThis.fetch): SlackFetch {
  const limit = pLimit(mostRequests);
  const send: SlackFetch = (url, init) =>
    limit(() => fetch(url, { ...init, signal: AbortSignal.timeout(patience) } as RequestInit));
  return send;
}

/** A refusal of the egress policy and an abort are permanent. */
function isPointless(error: Error): boolean {
  const { cause } = error;
  return egressCause(error) !== null || (cause instanceof Error && cause.name === 'AbortError');
}
