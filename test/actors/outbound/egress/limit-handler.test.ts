import type { Dispatcher } from 'undici';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LimitHandler } from '../../../../src/actors/outbound/egress/limit-handler.ts';
import { toolLimits } from '../../../../src/actors/outbound/egress/limits.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const aborted: (Error | undefined)[] = [];
const controller = {
  abort: (reason?: Error) => void aborted.push(reason),
} as unknown as Dispatcher.DispatchController;

/** A handler whose answer must be complete within a second. */
function aHandler(): LimitHandler {
  aborted.length = 0;
  const deadline = performance.now() + 1_000;
  const handler = new LimitHandler({}, { host: 'a.test', limits: toolLimits, deadline });
  handler.onRequestStart(controller, {});
  return handler;
}

it.each<[string, (handler: LimitHandler) => void]>([
  ['is complete', (handler) => handler.onResponseEnd(controller, {})],
  ['failed', (handler) => handler.onResponseError(controller, new Error('reset'))],
  [
    'became another protocol',
    (handler) => handler.onRequestUpgrade(controller, 101, {}, null as never),
  ],
])('leaves no timer behind an answer that %s', (_, end) => {
  const handler = aHandler();
  expect(vi.getTimerCount()).toBe(1);
  end(handler);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(60_000);
  expect(aborted).toEqual([]);
});

it('ends an answer that is not complete in time', () => {
  aHandler();
  vi.advanceTimersByTime(1_000);
  expect(aborted).toMatchObject([
    { message: 'egress stopped: a.test did not answer completely in 30000 ms' },
  ]);
});
