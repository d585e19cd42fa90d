import { ApiError } from '../api/api-error.ts';
import type { ApiClient } from '../api/client.ts';
import { eventsOf } from '../api/events-of.ts';
import type { ConnectionEvent } from './connection-machine.ts';
import { readStreamEvent } from './stream-event.ts';

/** Milliseconds of silence after which a stream is considered dead. The server sends a comment every four seconds. */
const silence = 15_000;

/**
 * Reads the server's events until the stream ends. Reports `stream.opened`, each `stream.event`, and finally
 * `stream.ended`, or `stream.refused` if the token is rejected.
 */
export async function readEvents(
  client: ApiClient,
  lastEventId: string,
  send: (event: ConnectionEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const stop = new AbortController();
  const watch = new Watchdog(silence, () => stop.abort());
  try {
    const response = await client.open('/api/events', {
      headers: {
        accept: 'text/event-stream',
        ...(lastEventId === '' ? {} : { 'last-event-id': lastEventId }),
      },
      signal: AbortSignal.any([signal, stop.signal]),
    });
    send({ type: 'stream.opened' });
    for await (const { id = '', event, data } of eventsOf(response, () => watch.restart())) {
      const read = readStreamEvent({ id, event, data });
      if (read !== null) send({ type: 'stream.event', event: read });
    }
    send({ type: 'stream.ended' });
  } catch (error) {
    if (signal.aborted) return;
    const refused = error instanceof ApiError && error.status === 401;
    send({ type: refused ? 'stream.refused' : 'stream.ended' });
  } finally {
    watch.stop();
  }
}

/** Calls back if it is not restarted within a time. */
class Watchdog {
  readonly #time: number;
  readonly #bark: () => void;
  #timer: ReturnType<typeof setTimeout>;

  /** @param time in milliseconds */
  constructor(time: number, bark: () => void) {
    this.#time = time;
    this.#bark = bark;
    this.#timer = setTimeout(bark, time);
  }

  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#bark, this.#time);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
