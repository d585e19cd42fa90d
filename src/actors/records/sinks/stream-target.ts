import type { Writable } from 'node:stream';
import { codeOf } from '../../../machines/error-code.ts';
import { SinkError, type SinkTarget } from './sink-target.ts';

/** Writes lines to a stream created by `open`, and waits until the system has accepted each batch. */
export function streamTarget(
  open: (signal: AbortSignal) => Promise<Writable>,
  release: (stream: Writable) => void,
): SinkTarget {
  let current: { stream: Writable; ended: Promise<void> } | null = null;
  return {
    async connect(signal) {
      const stream = await open(signal);
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      stream.once('close', resolve);
      stream.once('error', () => resolve());
      current = { stream, ended };
    },
    deliver(lines, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const stop = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', stop);
      current?.stream.write(Buffer.concat(lines), (error) => {
        if (error instanceof Error) {
          reject(
            new SinkError(`lines cannot be written (${failureWord(error)})`, { cause: error }),
          );
        } else resolve();
      });
      return promise.finally(() => signal.removeEventListener('abort', stop));
    },
    hungUp: () => current?.ended ?? Promise.resolve(),
    disconnect() {
      if (current !== null) release(current.stream);
      current = null;
    },
  };
}

/** Returns the system's code of a stream failure, such as `EPIPE`. */
export function failureWord(error: Error): string {
  return codeOf(error) || 'no reason given';
}
