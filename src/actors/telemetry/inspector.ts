import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { InspectionEvent, Observer } from 'xstate';
import type { Log } from '../ports.ts';
import { EventStream } from './event-stream.ts';
import { type PageFile, servePage } from './serve-page.ts';
import { statelyEvent } from './stately-event.ts';

/** The live system, streamed to whoever holds the address. */
export interface Inspector {
  /** Address of the page, with the token that watching needs behind `#`, where no browser sends it; a secret. */
  url: string;
  /** `ws://` address of the stream, for other programs; a secret as well. */
  streamUrl: string;
  listening: { address: string; port: number };
  /** To be given to `createActor` as its `inspect`. */
  inspect: Observer<InspectionEvent>;
  /** Lets every watcher go and frees the port. */
  stop(): Promise<void>;
}

/** The inspector could not be started; the message says what to do. */
export class InspectorError extends Error {
  readonly code = 'inspector_unavailable';
}

export interface InspectorOptions {
  /** 0 takes a free one. */
  port: number;
  /** What watching needs; a new one when absent. One that is kept lets a page find the daemon again after a restart. */
  token?: string;
  /** The files of the page, by their path; nothing to look at when absent. */
  page?: ReadonlyMap<string, PageFile>;
  log: Log;
  /** Epoch milliseconds. */
  now?: () => number;
}

const host = '127.0.0.1';

/**
 * Streams the charts of the live system over a WebSocket on loopback, in the format of the Stately
 * inspector and without anything callers, models or tools said, and serves a page that shows them.
 * Throws InspectorError when the port is taken.
 */
export async function startInspector(options: InspectorOptions): Promise<Inspector> {
  const { log, now = Date.now } = options;
  const { token = randomBytes(32).toString('base64url'), page = new Map() } = options;
  const stream = new EventStream({ token, log });
  const server = createServer();
  const port = await listen(server, options.port);
  server.on('request', (request, response) => servePage(page, request, response, port));
  server.on('upgrade', (request, socket, head) => stream.accept(request, socket, head, port));
  return {
    url: `http://${host}:${port}/#${token}`,
    streamUrl: `ws://${host}:${port}/?token=${token}`,
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
      // Whatever is thrown here would break the actor that is being watched.
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
