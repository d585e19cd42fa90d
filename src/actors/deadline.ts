import type { Clock } from './ports/clock.ts';

/** Returns a signal that aborts with a TimeoutError after milliseconds of a clock, unless it is cleared before. */
export function deadline(
  clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>,
  milliseconds: number,
): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController();
  const expire = (): void => controller.abort(new DOMException('The time is over', 'TimeoutError'));
  const timer = clock.setTimeout(expire, milliseconds);
  return { signal: controller.signal, clear: () => clock.clearTimeout(timer) };
}
