import type { DeliveryFailure } from '../../machines/channels/delivery-machine.ts';
import type { Clock } from '../ports/clock.ts';
import { DeliveryError } from './channel-adapter.ts';

/** Timeout for one message of an adapter, in milliseconds; the adapter's own attempts are shorter. */
export const patience = 60_000;

/**
 * Calls an adapter and gives up after `patience`, or when the signal aborts, even if the adapter ignores its signal.
 * Rejects with the adapter's error, DeliveryError on timeout, or the signal's reason.
 */
export function callAdapter<Result>(
  clock: Clock,
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ended = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const end = (reason: unknown): void => {
    reject(reason);
    ended.abort(reason);
  };
  const abort = (): void => end(signal.reason);
  const timer = clock.setTimeout(() => end(tooSlow()), patience);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  // Treats a synchronous throw like a rejection.
  else new Promise<Result>((settle) => settle(call(ended.signal))).then(resolve, reject);
  return promise.finally(() => {
    clock.clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  });
}

/** Returns why an adapter did not deliver a notice. For an unexpected error only its name is reported. */
export function failureOf(adapter: string, error: unknown): DeliveryFailure {
  if (error instanceof DeliveryError) {
    const { fault, retryAfter, message: reason } = error;
    return { kind: 'failed', fault, retryAfter, reason, isDefect: false };
  }
  const name = error instanceof Error ? error.name : typeof error;
  const reason = `the ${adapter} adapter broke with ${name}; this is a defect, please report it`;
  return { kind: 'failed', fault: 'later', retryAfter: null, reason, isDefect: true };
}

function tooSlow(): DeliveryError {
  return new DeliveryError(
    `the service did not respond within ${patience / 1_000} seconds; retrying`,
    { fault: 'later' },
  );
}
