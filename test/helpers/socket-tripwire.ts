import { channel } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type Dial, dialChannelName } from '../../src/actors/outbound/egress/egress.ts';

/** The socket of a run of a daemon, in its own folder. */
const runSocket = /\/holdpoint-\d+-\w+\/egress\.sock:0$/;

/** A connection that did not come from the egress policy: where it goes, and who opened it. */
export interface Bypass {
  target: string;
  stack: string;
}

/**
 * Watches every connection this process opens until the test has finished.
 *
 * Returns what tells the ones that the egress policy did not open. `allowedPorts` are those that the test
 * itself connects to, such as the daemon's; they are asked for when the answer is, since most are picked late.
 */
export function watchSockets(): (allowedPorts?: readonly number[]) => Bypass[] {
  const opened = new Map<Socket, Bypass & { port: number }>();
  const dialled = new WeakSet<Socket>();
  const original = Socket.prototype.connect;
  const hear = (dial: unknown) => void dialled.add((dial as Dial).socket);
  channel(dialChannelName).subscribe(hear);
  Socket.prototype.connect = function connect(this: Socket, ...given: unknown[]): Socket {
    const target = targetOf(given);
    const { stack = '' } = new Error('a connection is opened');
    opened.set(this, { target: `${target.host}:${target.port}`, port: target.port, stack });
    return Reflect.apply(original, this, given) as Socket;
  };
  onTestFinished(() => {
    Socket.prototype.connect = original;
    channel(dialChannelName).unsubscribe(hear);
  });
  return (allowedPorts = []) =>
    [...opened]
      .filter(([socket, { port }]) => !dialled.has(socket) && !allowedPorts.includes(port))
      // At its start the daemon asks the socket of another run whether a process still has it; that leads nowhere.
      .filter(([, { target }]) => !runSocket.test(target))
      .map(([, { target, stack }]) => ({ target, stack }));
}

/** Reads the arguments of `connect` in any of their shapes; Node's own callers wrap them in a list. */
function targetOf(given: unknown[]): { host: string; port: number } {
  const [first, second] = Array.isArray(given[0]) ? (given[0] as unknown[]) : given;
  if (typeof first === 'object' && first !== null) {
    const { host, port, path } = first as { host?: string; port?: unknown; path?: string };
    return { host: path ?? host ?? 'localhost', port: Number(port ?? 0) };
  }
  const host = typeof second === 'string' ? second : 'localhost';
  return { host: Number.isNaN(Number(first)) ? String(first) : host, port: Number(first) || 0 };
}
