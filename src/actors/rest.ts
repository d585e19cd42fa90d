import type { Clock } from './ports/clock.ts';

/** Resolves after the given milliseconds, or as soon as the signal aborts. Never rejects. */
export function rest(milliseconds: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = clock.setTimeout(wake, milliseconds);
    signal.addEventListener('abort', wake);
    if (signal.aborted) wake();
  });
}
