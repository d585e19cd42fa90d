import { SinkError, type SinkTarget } from './sink-target.ts';

export interface HttpTargetOptions {
  url: string;
  /** Sent as `Authorization: Bearer`; `null` for none. */
  token: string | null;
  /** Timeout of a request, in milliseconds. */
  timeout: number;
  /** Fetch under the egress policy, if there is one. */
  fetch: typeof globalThis.fetch;
}

/**
 * Posts lines as NDJSON; any 2xx confirms delivery. A batch is resent until it is confirmed, so a collector may receive
 * lines twice.
 */
export function httpTarget({ url, token, timeout, fetch }: HttpTargetOptions): SinkTarget {
  const headers = {
    'content-type': 'application/x-ndjson',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  };
  return {
    // Whether a collector accepts lines is known only after the first batch.
    connect: () => Promise.resolve(),
    async deliver(lines, signal) {
      let response: Response;
      try {
        response = await fetch(url, {
          method: 'POST',
          headers,
          body: Buffer.concat(lines),
          // A redirect would send lines and token to another host.
          redirect: 'error',
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
        });
      } catch (error) {
        throw new SinkError(`the collector cannot be reached (${reasonOf(error)})`, {
          cause: error,
        });
      }
      await response.body?.cancel();
      if (!response.ok) throw new SinkError(`the collector answered with ${response.status}`);
    },
    hungUp: () => new Promise(() => undefined),
    disconnect: () => undefined,
  };
}

/** Returns the code of a failure; messages of a client may quote its input. */
function reasonOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    if (cause.name === 'TimeoutError') return 'timed out';
  }
  return 'no answer';
}
