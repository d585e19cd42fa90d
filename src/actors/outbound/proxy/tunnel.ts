import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Log } from '../../ports/log.ts';
import type { Egress } from '../egress/egress.ts';
import { type Answer, answerBytes, failureAnswer } from './answer.ts';
import type { Pass } from './passes.ts';

/** The policy, the log, and the idle timeout of a tunnel in milliseconds. */
export interface TunnelPorts {
  egress: Pick<Egress, 'checkHop' | 'connect' | 'dispatcher' | 'within' | 'listensAt'>;
  log: Log;
  idle: number;
}

/**
 * Handles `CONNECT host:port`: checks the host, connects to a checked address, and relays bytes until one side ends or
 * the tunnel is idle for too long.
 */
export async function tunnel(
  { egress, log, idle }: TunnelPorts,
  pass: Pass,
  authority: string,
  client: Duplex,
  head: Buffer,
): Promise<void> {
  const hop = hopOf(authority);
  if (hop === null) {
    return refuse(client, {
      status: 400,
      text: 'CONNECT needs a host and a port; write host:port',
    });
  }
  const gone = new AbortController();
  client.once('close', () => gone.abort());
  let upstream: Socket;
  try {
    egress.checkHop({ protocol: 'https:', isTunnel: true, ...hop }, pass.scope);
    upstream = await egress.connect(hop, pass.scope, gone.signal);
  } catch (error) {
    if (gone.signal.aborted) return;
    return refuse(client, failureAnswer(error, hop.hostname, { log, pass }));
  }
  if (client.destroyed) return void upstream.destroy();
  // A pipeline that returns to its first stream adds more listeners than Node's warning limit.
  setMaxListeners(20, client, upstream);
  try {
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) upstream.write(head);
    upstream.setTimeout(idle, () => upstream.destroy());
    await pipeline(client, upstream, client);
  } catch {
    // Either side may close at any time; the other side is then closed too.
  } finally {
    upstream.destroy();
    client.destroy();
  }
}

/** Ends a connection with an answer of the proxy itself. */
export function refuse(client: Duplex, answer: Answer): void {
  client.end(answerBytes(answer));
}

/** Parses `host:port` like a URL, so that every spelling of an address is normalised. */
function hopOf(authority: string): { hostname: string; port: number } | null {
  const parts = /^(\[[0-9A-Fa-f:.]+\]|[^\s:/?#@\\[\]]+):(\d{1,5})$/.exec(authority);
  const port = Number(parts?.[2]);
  if (!parts || port < 1 || port > 65_535) return null;
  const url = URL.parse(`http://${parts[1]}/`);
  return url === null ? null : { hostname: url.hostname, port };
}
