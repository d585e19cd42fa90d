import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { SinkTarget } from './sink-target.ts';
import { streamTarget } from './stream-target.ts';

/** Writes lines to stdout; a slow or missing reader blocks nothing else. */
export function stdoutTarget(open: () => Writable = openStdout): SinkTarget {
  let stream: Writable | null = null;
  return streamTarget(
    () => {
      stream ??= opened(open);
      return Promise.resolve(stream);
    },
    (released) => {
      // stdout cannot be reopened, so the stream is reused unless it is broken.
      if (released.destroyed) stream = null;
    },
  );
}

function opened(open: () => Writable): Writable {
  const stream = open();
  // An error without a listener would crash the process.
  stream.on('error', () => undefined);
  return stream;
}

/** `process.stdout` blocks the whole process while a pipe is full; a socket on the same descriptor does not. */
function openStdout(): Writable {
  const output = fstatSync(1);
  if (!output.isFIFO() && !output.isSocket()) return process.stdout;
  const socket = new Socket({ fd: 1, readable: false, writable: true });
  socket.unref();
  return socket;
}
