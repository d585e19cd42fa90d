import type { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import { EgressError } from '../../../../src/actors/outbound/egress/egress-error.ts';
import { HopHandler } from '../../../../src/actors/outbound/egress/policy-interceptor.ts';

const controller = {} as Dispatcher.DispatchController;
const refusal = new EgressError({ host: 'a.test', why: 'is no host', mode: 'allowlist' });
const reset = new Error('reset');

/** A handler of a hop, what it reports, and what its owner receives. */
function aHop(report: () => void = () => undefined) {
  const said: (EgressError | null)[] = [];
  const heard: unknown[] = [];
  const own: Dispatcher.DispatchHandler = {
    onRequestStart: () => void heard.push('start'),
    onResponseError: (_controller, error) => void heard.push(error),
  };
  const handler = new HopHandler(own, (what) => {
    said.push(what);
    report();
  });
  return { handler, said, heard };
}

describe('a permitted hop', () => {
  it('is reported once, although it fails after its first byte', () => {
    const { handler, said, heard } = aHop();
    handler.onRequestStart(controller, {});
    handler.onResponseError(controller, reset);
    expect([said, heard]).toEqual([[null], ['start', reset]]);
  });

  it('is reported once, although it is retried', () => {
    const { handler, said, heard } = aHop();
    for (let times = 0; times < 2; times += 1) handler.onRequestStart(controller, {});
    expect([said, heard]).toEqual([[null], ['start', 'start']]);
  });

  it.each([
    ['refused', refusal, refusal],
    ['failed', reset, null],
  ])('is reported as %s before its first byte', (_, error, what) => {
    const { handler, said, heard } = aHop();
    handler.onResponseError(controller, error);
    expect([said, heard]).toEqual([[what], [error]]);
  });

  it.each([
    ['an error', new Error('the disk is full'), new Error('the disk is full')],
    ['anything else', 'the disk is full', new Error('the disk is full')],
  ])('fails as its report does, which throws %s', (_, thrown: unknown, expected) => {
    const { handler, heard } = aHop(() => {
      throw thrown;
    });
    handler.onResponseError(controller, refusal);
    expect(heard).toEqual([expected]);
  });
});
