import type { Clock } from './ports.ts';

/** Returns a signal that aborts with a TimeoutError after milliseconds of a clock, unless it is disposed of before. */
export function deadline(
  clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>,
  milliseconds: number,
): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const expire = (): void => controller.abort(new DOMException('The time is over', 'TimeoutError'));
  const timer = clock.setTimeout(expire, milliseconds);
  return { signal: controller.signal, [Symbol.dispose]: () => clock.clearTimeout(timer) };
}
