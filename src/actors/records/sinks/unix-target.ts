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
  // What the other end says is of no interest, but unread it would hide that it hangs up.
  socket.resume();
  socket.once('connect', () => resolve(socket));
  // Stays for as long as the socket does: an error without a listener ends the process.
  socket.on('error', (error) => {
    reject(
      new SinkError(`nobody takes lines on the socket (${failureWord(error)})`, { cause: error }),
    );
  });
  return promise.finally(() => signal.removeEventListener('abort', stop));
}
