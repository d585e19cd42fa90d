import {
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
} from '@slack/web-api';
import type { LinkFault } from '../../../../machines/channels/connection-machine.ts';
import { EgressError, egressCause } from '../../../outbound/outbound.ts';
import { DeliveryError, type DeliveryFault } from '../../channel-adapter.ts';
import { SlackSetupError } from './setup-error.ts';
import { brokenTokens, remedies } from './slack-remedies.ts';

/** A failure worded without payloads and tokens, and its fault. */
interface Failure {
  /** The problem and its remedy, without a final period. */
  words: string;
  fault: DeliveryFault;
  /** Milliseconds; `null` if Slack sent none. */
  retryAfter: number | null;
  /** True if the whole connection fails until a person fixes it. */
  lasting: boolean;
}

/** Maximum accepted retry delay, in milliseconds. */
const longestRest = 3_600_000;

const passing = { fault: 'later', retryAfter: null, lasting: false } as const;

/**
 * Converts an error of Slack's libraries to the failure of a notice; an unknown error is transient.
 *
 * @param doing what failed, such as `posting to C0123456789`
 */
export function deliveryError(error: unknown, doing: string): DeliveryError {
  if (error instanceof DeliveryError) return error;
  const { words, fault, retryAfter } = failureOf(error);
  // The original error is not attached as a cause: it holds headers and bodies.
  return new DeliveryError(`slack: ${doing} failed: ${words}`, { fault, retryAfter });
}

/** Converts an error of Slack's libraries to a failure of the connection. */
export function linkFault(error: unknown): LinkFault {
  const { words, retryAfter, lasting } = failureOf(error);
  return { message: words, retryAfter, lasting };
}

/**
 * Returns the error code of Slack's response, such as `not_in_channel`; `null` if the error is not a refusal by Slack.
 */
export function slackCode(error: unknown): string | null {
  if (!(error instanceof WebAPIPlatformError)) return null;
  const code: unknown = error.data.error;
  // For a response that is not JSON, the library puts the whole body in place of the code.
  return typeof code === 'string' && /^[a-z0-9_]{1,80}$/.test(code) ? code : null;
}

function failureOf(error: unknown): Failure {
  const refused = egressCause(error);
  if (refused instanceof EgressError) {
    const words = `${refused.message}; ${remedyOf(refused)}`;
    return { ...passing, words, fault: 'target', lasting: true };
  }
  if (error instanceof SlackSetupError) {
    return { ...passing, words: error.message, fault: 'target', lasting: true };
  }
  if (refused !== null) return { ...passing, words: refused.message };
  if (error instanceof WebAPIRateLimitedError) return rateLimited(error.retryAfter);
  if (error instanceof WebAPIPlatformError) return platformFailure(error);
  if (error instanceof WebAPIHTTPError) return httpFailure(error.statusCode);
  return { ...passing, words: networkWords(error) };
}

function remedyOf({ why }: EgressError): string {
  return why === 'is not on the allowlist'
    ? 'list the host under egress.allowed_domains'
    : 'look at api_url, or list its network under egress.allowed_private_cidrs';
}

function platformFailure(error: WebAPIPlatformError): Failure {
  const code = slackCode(error);
  if (code === null) return { ...passing, words: 'the response is not from Slack' };
  if (code === 'ratelimited') return rateLimited(error.data.response_metadata?.retryAfter ?? null);
  const lasting = brokenTokens.has(code);
  const remedy = remedies.get(code);
  if (remedy === undefined) return { ...passing, words: `Slack refused it (${code})`, lasting };
  const todo = code === 'missing_scope' ? scopeRemedy(error) : remedy.todo;
  return { ...passing, words: `${todo} (${code})`, fault: remedy.fault, lasting };
}

function scopeRemedy(error: WebAPIPlatformError): string {
  const needed: unknown = Reflect.get(error.data, 'needed');
  const scope = typeof needed === 'string' && /^[a-z:.,_ ]{1,100}$/.test(needed) ? needed : null;
  return `give the Slack app the scope ${scope ?? 'that it lacks'} and install it again`;
}

/** @param seconds the delay that Slack asks for */
function rateLimited(seconds: number | null): Failure {
  const asked = seconds === null || !Number.isFinite(seconds) ? null : Math.max(0, seconds * 1_000);
  const retryAfter = asked === null ? null : Math.min(asked, longestRest);
  return { ...passing, words: 'Slack rate limit reached', retryAfter };
}

function httpFailure(status: number): Failure {
  const isPassing = status >= 500 || status === 408 || status === 429;
  return isPassing
    ? { ...passing, words: `Slack answered ${status}` }
    : {
        ...passing,
        words: `Slack answered ${status}; look at api_url`,
        fault: 'target',
        lasting: true,
      };
}

/** Describes a network error by its code; its message may contain addresses. */
function networkWords(error: unknown): string {
  const original = error instanceof WebAPIRequestError ? error.original : error;
  for (let cause = original, depth = 0; cause instanceof Error && depth < 5; depth += 1) {
    if (cause.name === 'TimeoutError') return 'Slack did not answer in time';
    if (cause.name === 'AbortError') return 'it was given up';
    const code: unknown = Reflect.get(cause, 'code');
    if (typeof code === 'string' && /^(?:E[A-Z]+|UND_ERR_[A-Z_]+)$/.test(code)) {
      return `the connection broke (${code})`;
    }
    cause = cause.cause;
  }
  return 'the connection broke';
}
