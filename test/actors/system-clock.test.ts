import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/actors/system-clock.ts';

const boot = { seconds: 0 };
const nine = Date.UTC(2026, 6, 1, 9);
let running = 0;

beforeEach(() => {
  running = 5_000;
  boot.seconds = 100;
  vi.useFakeTimers({ toFake: ['Date'], now: nine });
  vi.spyOn(performance, 'now').mockImplementation(() => running);
  vi.spyOn(os, 'uptime').mockImplementation(() => boot.seconds);
  syncBuiltinESMExports();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** Time passes while the process runs. */
function pass(milliseconds: number): void {
  running += milliseconds;
  boot.seconds += milliseconds / 1_000;
}

describe('the clock of the machine', () => {
  it('starts at the wall-clock time and continues with the process', () => {
    const clock = systemClock();
    expect(clock.now()).toBe(nine);
    pass(1_234);
    expect(clock.now()).toBe(nine + 1_234);
  });

  it.each([3_600_000, -3_600_000])('is not changed when the wall clock is set by %d ms', (by) => {
    const clock = systemClock();
    vi.setSystemTime(nine + by);
    pass(2_000);
    expect(clock.now()).toBe(nine + 2_000);
  });

  it('counts the sleep of the machine', () => {
    const clock = systemClock();
    pass(2_000);
    boot.seconds += 3_600;
    pass(2_000);
    expect(clock.now()).toBe(nine + 4_000 + 3_600_000);
  });

  it('does not take the coarse time since boot for a sleep', () => {
    const clock = systemClock();
    pass(2_000);
    boot.seconds += 0.9;
    expect(clock.now()).toBe(nine + 2_000);
  });

  it('never goes back', () => {
    const clock = systemClock();
    let last = clock.now();
    for (const [milliseconds, jump] of [
      [1_500, 30],
      [1_500, -29.99],
      [1_500, 0],
      [10, 5],
      [1_500, -5],
    ] as const) {
      pass(milliseconds);
      boot.seconds += jump;
      expect(clock.now()).toBeGreaterThanOrEqual(last);
      last = clock.now();
    }
  });
});

describe('the timers of the clock', () => {
  it.each([
    [-5, 0],
    [1_000, 1_000],
    [2 ** 31, 2 ** 31 - 1],
    [Number.POSITIVE_INFINITY, 2 ** 31 - 1],
  ])('for %d ms take %d, since a longer one would fire at once', (asked, taken) => {
    const spy = vi.spyOn(globalThis, 'setTimeout');
    const clock = systemClock();
    const handle = clock.setTimeout(() => undefined, asked);
    expect(spy.mock.calls[0]?.[1]).toBe(taken);
    clock.clearTimeout(handle);
  });

  it('can be canceled', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const clock = systemClock();
    const fired: string[] = [];
    const first = clock.setTimeout(() => fired.push('first'), 10);
    clock.setTimeout(() => fired.push('second'), 20);
    clock.clearTimeout(first);
    clock.clearTimeout(null);
    vi.advanceTimersByTime(20);
    expect(fired).toEqual(['second']);
  });
});
