import { connect, type Socket } from 'node:net';

/** Addresses of this machine that connections come from, as each address may have a share of them. */
const addresses = 8;

/** Connects a caller, by its number, to a daemon; only `close` reports a failure on the way. */
export function connectFrom(url: string, index: number): Socket {
  const { hostname, port } = new URL(url);
  const localAddress = `127.0.0.${2 + (index % addresses)}`;
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  return socket.on('error', () => undefined);
}
