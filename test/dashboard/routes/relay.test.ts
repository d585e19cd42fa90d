import { EventEmitter } from 'node:events';
import type { Context } from 'koa';
import { expect, it } from 'vitest';
import { whileAsked } from '../../../src/dashboard/routes/relay.ts';

function signalFor(destroyed: boolean) {
  const res = Object.assign(new EventEmitter(), { destroyed });
  return { res, signal: whileAsked({ res } as unknown as Context) };
}

it("a client's request ends when it disconnects, also when it has disconnected before", () => {
  const here = signalFor(false);
  expect(here.signal.aborted).toBe(false);
  here.res.emit('close');
  expect([here.signal.aborted, here.signal.reason.status]).toEqual([true, 499]);
  expect(signalFor(true).signal.aborted).toBe(true);
});
