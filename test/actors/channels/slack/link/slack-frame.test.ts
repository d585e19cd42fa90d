import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFrame } from '../../../../../src/actors/channels/slack/link/slack-frame.ts';

const read = (frame: unknown) => readFrame(JSON.stringify(frame));

describe('a frame of Socket Mode', () => {
  it('may be a greeting, with the app and the lifetime of the socket', () => {
    expect([
      read({
        type: 'hello',
        connection_info: { app_id: 'A1' },
        debug_info: { approximate_connection_time: 18_060 },
      }),
      read({ type: 'hello', connection_info: 7, debug_info: { approximate_connection_time: 'x' } }),
      read({ type: 'hello', debug_info: { approximate_connection_time: -1 } }),
    ]).toEqual([
      { kind: 'hello', appId: 'A1', lifetime: 18_060_000 },
      { kind: 'hello', appId: null, lifetime: null },
      { kind: 'hello', appId: null, lifetime: null },
    ]);
  });

  it('may announce that Slack will close the socket', () => {
    expect([
      read({ type: 'disconnect', reason: 'warning' }),
      read({ type: 'disconnect', reason: '<html>' }),
    ]).toEqual([
      { kind: 'disconnect', reason: 'warning' },
      { kind: 'disconnect', reason: 'unknown' },
    ]);
  });

  it('may carry an event, which gives its id', () => {
    const body = { event_id: 'Ev1', event: {} };
    expect([
      read({ type: 'events_api', envelope_id: 'e1', payload: body }),
      read({ type: 'interactive', envelope_id: 'e2', payload: { type: 'block_actions' } }),
      read({ type: 'interactive', envelope_id: 'e3' }),
    ]).toEqual([
      { kind: 'envelope', envelopeId: 'e1', id: 'Ev1', type: 'events_api', body },
      {
        kind: 'envelope',
        envelopeId: 'e2',
        id: 'e2',
        type: 'interactive',
        body: { type: 'block_actions' },
      },
      { kind: 'envelope', envelopeId: 'e3', id: 'e3', type: 'interactive', body: null },
    ]);
  });

  it('is read without an exception, for any content', () => {
    const kinds = ['hello', 'disconnect', 'envelope', 'odd'];
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.uint8Array(), fc.anything()), (data) => {
        expect(kinds).toContain(readFrame(data).kind);
      }),
    );
  });
});
