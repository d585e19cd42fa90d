import { SinkError, type SinkTarget } from './sink-target.ts';

export interface HttpTargetOptions {
  url: string;
  /** Sent as `Authorization: Bearer`; `null` for none. */
  token: string | null;
  /** How long a request may take, in milliseconds. */
  timeout: number;
  /** The egress policy's own where there is one. */
  fetch: typeof globalThis.fetch;
}

/**
 * Posts lines as NDJSON; any 2xx says that they have arrived. A batch is sent again until one comes,
 * so a collector may see lines twice.
 */
export function httpTarget({ url, token, timeout, fetch }: HttpTargetOptions): SinkTarget {
  const headers = {
    'content-type': 'application/x-ndjson',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  };
  return {
    // Whether a collector takes lines shows with the first batch alone.
    connect: () => Promise.resolve(),
    async deliver(lines, signal) {
      let response: Response;
      try {
        response = await fetch(url, {
          method: 'POST',
          headers,
          body: Buffer.concat(lines),
          // Another address would get lines and token that were not meant for it.
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

/** The code of what went wrong; messages of a client may hold what it was given. */
function reasonOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    if (cause.name === 'TimeoutError') return 'timed out';
  }
  return 'no answer';
}
