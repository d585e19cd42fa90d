import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Clock } from '../../src/actors/ports/clock.ts';
import { listenOnLoopback } from './listen-on-loopback.ts';

/** A proxy in front of an agent. */
export interface Proxy {
  url: string;
  /** Resolves once it has read so many times from the agent, the head of an answer included. */
  hasRead(times: number): Promise<void>;
}

/**
 * Serves a proxy until the test has finished that treats an agent as nginx does by default: an answer is passed on
 * when it is whole, unless it says `X-Accel-Buffering: no`, and given up when nothing of it is read for a minute:
 * with 504 where its head has not been passed on, by closing the connection where it has.
 */
export async function startProxy(agent: string, clock: Clock): Promise<Proxy> {
  const patience = 60_000;
  let reads = 0;
  let wake: () => void = () => undefined;
  const pass = (asked: IncomingMessage, answer: ServerResponse): void => {
    const giveUp = (): void => {
      upstream.destroy();
      if (answer.headersSent) answer.destroy();
      else answer.writeHead(504).end();
    };
    let timer = clock.setTimeout(giveUp, patience);
    const note = (): void => {
      clock.clearTimeout(timer);
      timer = clock.setTimeout(giveUp, patience);
      reads += 1;
      wake();
    };
    const { method, url, headers } = asked;
    const upstream = request(agent + url, { method, headers }, (answered) => {
      note();
      const isBuffered = answered.headers['x-accel-buffering'] !== 'no';
      const kept: Buffer[] = [];
      answer.writeHead(answered.statusCode ?? 502, answered.headers);
      if (!isBuffered) answer.flushHeaders();
      answered.on('data', (piece: Buffer) => {
        note();
        if (isBuffered) kept.push(piece);
        else answer.write(piece);
      });
      answered.once('end', () => {
        clock.clearTimeout(timer);
        answer.end(Buffer.concat(kept));
      });
      answered.once('error', () => answer.destroy());
    });
    upstream.once('error', () => clock.clearTimeout(timer));
    asked.pipe(upstream);
  };
  return {
    url: await listenOnLoopback(createServer(pass)),
    async hasRead(times) {
      while (reads < times) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
      }
    },
  };
}
