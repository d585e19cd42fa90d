import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import { ForwardingHandler } from '../../../../src/actors/outbound/egress/forwarding-handler.ts';

const controller = {} as Dispatcher.DispatchController;
const socket = {} as Duplex;
const chunk = Buffer.from('hello');
const headers = { 'x-kept': 'yes' };
const failure = new Error('reset');

/** Every event of a request, with all that is said of it. */
const events: [keyof ForwardingHandler, unknown[]][] = [
  ['onRequestStart', [controller, { retry: 1 }]],
  ['onRequestUpgrade', [controller, 101, headers, socket]],
  ['onResponseStarted', []],
  ['onResponseStart', [controller, 200, headers, 'OK']],
  ['onResponseData', [controller, chunk]],
  ['onResponseEnd', [controller, headers]],
  ['onResponseError', [controller, failure]],
  ['onBodySent', [chunk]],
  ['onRequestSent', []],
];

/** Tells a handler of an event. */
function tell(handler: ForwardingHandler, event: keyof ForwardingHandler, told: unknown[]): void {
  (handler[event] as (...all: unknown[]) => void).apply(handler, told);
}

describe('a forwarding handler', () => {
  it.each(events)('informs its owner of %s and of nothing else', (event, told) => {
    const heard: unknown[] = [];
    const own = Object.fromEntries(
      events.map(([name]) => [name, (...all: unknown[]) => void heard.push([name, all])]),
    );
    tell(new ForwardingHandler(own), event, told);
    expect(heard).toEqual([[event, told]]);
  });

  it.each(events)('works without %s', (event, told) => {
    expect(() => tell(new ForwardingHandler({}), event, told)).not.toThrow();
  });
});
