import { fromCallback } from 'xstate';
import { ApiError } from '../api/api-error.ts';
import type { ApiClient } from '../api/client.ts';
import { eventsOf } from '../api/events-of.ts';
import { type ConnectionEvent, connectionMachine, type TabMessage } from './connection-machine.ts';
import { readStreamEvent, type StreamEvent } from './stream-event.ts';

/** Milliseconds of silence after which a stream is considered dead. The server sends a comment every four seconds. */
const silence = 15_000;

/**
 * Reads the server's events until the stream ends. Reports `stream.opened`, each `stream.event`, and finally
 * `stream.ended`, or `stream.refused` if the token is rejected.
 */
async function readEvents(
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

const name = 'holdpoint-events';

/**
 * Connects the chart of the connection to the browser: a Web Lock elects the leader and a BroadcastChannel connects the
 * tabs. A page loaded over plain HTTP from another machine has no locks, so each tab reads its own stream there.
 */
export function shareStream(
  client: ApiClient,
  deliver: (event: StreamEvent) => void,
  readAgain: () => void,
) {
  const channel = new BroadcastChannel(name);
  return connectionMachine.provide({
    actors: {
      campaign: fromCallback<ConnectionEvent>(({ sendBack }) => {
        const left = new AbortController();
        void campaign(() => sendBack({ type: 'leadership.won' }), left.signal);
        return () => left.abort();
      }),
      listen: fromCallback<ConnectionEvent>(({ sendBack }) => {
        const hear = ({ data }: MessageEvent<TabMessage>): void => sendBack(eventOf(data));
        channel.addEventListener('message', hear);
        return () => channel.removeEventListener('message', hear);
      }),
      stream: fromCallback<ConnectionEvent, { lastEventId: string }>(({ sendBack, input }) => {
        const left = new AbortController();
        void readEvents(client, input.lastEventId, sendBack, left.signal);
        return () => left.abort();
      }),
    },
    actions: {
      deliver: (_, { event }) => deliver(event),
      tell: (_, message) => channel.postMessage(message),
      readAgain,
    },
  });
}

/** Holds the lock from the time it is granted until the signal aborts. */
async function campaign(won: () => void, signal: AbortSignal): Promise<void> {
  const locks = (navigator as { locks?: LockManager }).locks;
  if (locks === undefined) return won();
  const held = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const lead = (): Promise<void> => {
    won();
    return held;
  };
  // Aborting the wait for the lock is not an error.
  await locks.request(name, { signal }, lead).catch(() => undefined);
}

function eventOf(message: TabMessage): ConnectionEvent {
  if (message.kind === 'event') return { type: 'tab.event', event: message.event };
  return { type: `tab.${message.kind}` };
}
