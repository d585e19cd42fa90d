import { connect } from 'node:net';
import type { Writable } from 'node:stream';
import { SinkError, type SinkTarget } from './sink-target.ts';
import { failureWord, streamTarget } from './stream-target.ts';

/** Writes lines to the listener of a UNIX socket. */
export function unixTarget(path: string): SinkTarget {
  return streamTarget(
    (signal) => dial(path, signal),
    (stream) => stream.destroy(),
  );
}

function dial(path: string, signal: AbortSignal): Promise<Writable> {
  const { promise, resolve, reject } = Promise.withResolvers<Writable>();
  const socket = connect({ path });
  const stop = (): void => void socket.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop);
  // Discards incoming data; if it were unread, the disconnect would not be detected.
  socket.resume();
  socket.once('connect', () => resolve(socket));
  // Attached for the whole life of the socket: an error without a listener would crash the process.
  socket.on('error', (error) => {
    reject(new SinkError(`no process reads the socket (${failureWord(error)})`, { cause: error }));
  });
  return promise.finally(() => signal.removeEventListener('abort', stop));
}
