import { DeliveryError } from '../../channel-adapter.ts';

/**
 * Runs an operation until a signal aborts, and then rejects with a DeliveryError of the fault `later`; a request
 * already sent may still arrive.
 */
export async function untilAborted<Result>(
  signal: AbortSignal,
  run: () => Promise<Result>,
): Promise<Result> {
  if (signal.aborted) throw unwanted();
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(unwanted());
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([run(), stopped.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Creates a fetch whose requests are aborted by a signal. */
export function fetchUntil(
  ended: AbortSignal,
  fetch: typeof globalThis.fetch,
): typeof globalThis.fetch {
  return (input, init) => {
    const signal = init?.signal ? AbortSignal.any([init.signal, ended]) : ended;
    return fetch(input, { ...init, signal });
  };
}

function unwanted(): DeliveryError {
  return new DeliveryError('slack: the message was given up', { fault: 'later' });
}
