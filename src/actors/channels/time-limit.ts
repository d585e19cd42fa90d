import type { Clock } from '../ports.ts';

/** Stands for the result of work that took too long. */
export const late = Symbol('late');

/** Resolves as a promise does, or with `late` after `limit` milliseconds. */
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

/** Resolves after so many milliseconds. */
export function pause(clock: Clock, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimeout(resolve, milliseconds);
  });
}
