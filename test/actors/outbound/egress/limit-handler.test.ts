import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { EgressLimitError } from '../../../../src/actors/outbound/egress/egress-error.ts';
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
])('no timer is left for an answer that %s', (_, end) => {
  const handler = aHandler();
  expect(vi.getTimerCount()).toBe(1);
  end(handler);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(60_000);
  expect(aborted).toEqual([]);
});

it('an answer that is incomplete at the time limit is aborted', () => {
  aHandler();
  vi.advanceTimersByTime(1_000);
  expect(aborted).toMatchObject([
    { message: 'egress stopped: a.test did not answer completely in 30000 ms' },
  ]);
});

it('the owner is informed of the start, and of another protocol', () => {
  const heard: unknown[] = [];
  const own: Dispatcher.DispatchHandler = {
    onRequestStart: (...told) => void heard.push(told),
    onRequestUpgrade: (...told) => void heard.push(told),
  };
  const handler = new LimitHandler(own, { host: 'a.test', limits: toolLimits, deadline: null });
  const socket = {} as Duplex;
  handler.onRequestStart(controller, { retry: 1 });
  handler.onRequestUpgrade(controller, 101, { upgrade: 'h3' }, socket);
  expect(heard).toEqual([
    [controller, { retry: 1 }],
    [controller, 101, { upgrade: 'h3' }, socket],
  ]);
});

it('exactly the limit of bytes passes', () => {
  aborted.length = 0;
  const heard: string[] = [];
  const own = { onResponseData: (_: unknown, chunk: Buffer) => void heard.push(String(chunk)) };
  const limits = { ...toolLimits, bytes: 4 };
  const handler = new LimitHandler(own, { host: 'a.test', limits, deadline: null });
  for (const chunk of ['abc', 'd', 'e']) handler.onResponseData(controller, Buffer.from(chunk));
  expect([heard, aborted]).toEqual([
    ['abc', 'd'],
    [new EgressLimitError('a.test', 'answered more than 4 bytes')],
  ]);
});

it.each<[string | null, string | null]>([
  ['UND_ERR_CONNECT_TIMEOUT', 'did not accept a connection in time'],
  ['UND_ERR_HEADERS_TIMEOUT', 'sent no headers in 10000 ms'],
  ['UND_ERR_BODY_TIMEOUT', 'sent nothing for 10000 ms'],
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'answered more than 10485760 bytes'],
  ['ECONNRESET', null],
  ['', null],
  [null, null],
])('a failure of the code %s becomes %s', (code, why) => {
  const told: Error[] = [];
  const own = { onResponseError: (_: unknown, error: Error) => void told.push(error) };
  const handler = new LimitHandler(own, { host: 'a.test', limits: toolLimits, deadline: null });
  const error = Object.assign(new Error('the answer failed'), code === null ? {} : { code });
  handler.onResponseError(controller, error);
  expect(told).toEqual([why === null ? error : new EgressLimitError('a.test', why)]);
});
