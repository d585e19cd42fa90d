import { fromCallback } from 'xstate';
import type { ApiClient } from '../api/client.ts';
import { type ConnectionEvent, connectionMachine, type TabMessage } from './connection-machine.ts';
import { readEvents } from './read-events.ts';
import type { StreamEvent } from './stream-event.ts';

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
