import { DeliveryError } from '../../channel-adapter.ts';

/**
 * Waits for a result for as long as somebody wants it, and rejects with a DeliveryError of the fault `later`
 * as soon as a signal says otherwise; what was sent by then may arrive all the same.
 */
export async function whileWanted<Result>(
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

/** Makes a fetch that gives up everything when a signal aborts. */
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
