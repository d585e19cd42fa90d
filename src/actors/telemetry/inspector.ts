import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { InspectionEvent, Observer } from 'xstate';
import type { Log } from '../ports/log.ts';
import { EventStream } from './event-stream.ts';
import { statelyEvent } from './stately-event.ts';

/** A stream of the live system for clients with its URL. */
export interface Inspector {
  /** `ws://` URL of the stream with its token; a secret. */
  url: string;
  listening: { address: string; port: number };
  /** Pass to `createActor` as `inspect`. */
  inspect: Observer<InspectionEvent>;
  /** Disconnects every watcher and closes the port. */
  stop(): Promise<void>;
}

/** The inspector could not be started; the message gives the remedy. */
export class InspectorError extends Error {
  readonly code = 'inspector_unavailable';
}

export interface InspectorOptions {
  /** 0 selects a free port. */
  port: number;
  /** Token of watchers; generated when absent. A stored token lets a watcher reconnect to the daemon after a restart. */
  token?: string;
  log: Log;
  /** Returns epoch milliseconds. */
  now?: () => number;
}

const host = '127.0.0.1';

/**
 * Streams the charts of the live system over a WebSocket on loopback, in the format of the Stately inspector and
 * without any content of callers, models or tools. Throws InspectorError if the port is in use.
 */
export async function startInspector(options: InspectorOptions): Promise<Inspector> {
  const { log, now = Date.now } = options;
  const { token = randomBytes(32).toString('base64url') } = options;
  const stream = new EventStream({ token, log });
  const server = createServer();
  const port = await listen(server, options.port);
  server.on('request', (_, response) => response.writeHead(426, { Upgrade: 'websocket' }).end());
  server.on('upgrade', (request, socket, head) => stream.accept(request, socket, head, port));
  return {
    url: `ws://${host}:${port}/?token=${token}`,
    listening: { address: host, port },
    inspect: streamInto(stream, { log, now }),
    async stop() {
      stream.close();
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function streamInto(
  stream: EventStream,
  { log, now }: { log: Log; now: () => number },
): Observer<InspectionEvent> {
  let id = 1;
  return {
    next(inspection) {
      // An exception here would break the inspected actor.
      try {
        const event = statelyEvent(inspection, { id, at: now() });
        if (event === null) return;
        stream.publish(event);
        id += 1;
      } catch (error) {
        log.error({ error }, 'inspector: an event could not be shown');
      }
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  try {
    const listening = once(server, 'listening');
    server.listen(port, host);
    await listening;
  } catch (cause) {
    throw new InspectorError(
      `the inspector cannot listen on ${host}:${port}; choose another port with --inspect <port>`,
      { cause },
    );
  }
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
