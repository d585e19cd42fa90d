import type { Clock } from '../ports/clock.ts';

/** Result of an operation that exceeded its time limit. */
export const late = Symbol('late');

/** Resolves with the promise's value, or with `late` after `limit` milliseconds. */
export function within<Value>(
  clock: Clock,
  limit: number,
  promise: Promise<Value>,
): Promise<Value | typeof late> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => resolve(late), limit);
    promise.then(resolve, reject).finally(() => clock.clearTimeout(timer));
  });
}

export function pause(clock: Clock, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimeout(resolve, milliseconds);
  });
}
