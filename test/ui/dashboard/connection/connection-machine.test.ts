import { describe, expect, it } from 'vitest';
import { createActor, SimulatedClock, transition } from 'xstate';
import {
  type ConnectionEvent,
  connectionMachine,
} from '../../../../src/ui/dashboard/connection/connection-machine.ts';
import type { StreamEvent } from '../../../../src/ui/dashboard/connection/stream-event.ts';

const removed = (id: string): StreamEvent => ({ id, name: 'agent_removed', data: { id: 'a' } });

/** Where events lead, and what the last of them asks for. */
function after(...events: ConnectionEvent[]) {
  let snapshot = createActor(connectionMachine).getSnapshot();
  let asked: { type: string; params: unknown }[] = [];
  for (const event of events) {
    const [next, actions] = transition(connectionMachine, snapshot, event);
    snapshot = next;
    asked = actions
      .filter(({ type }) => !type.startsWith('xstate.') && !type.startsWith('@xstate.'))
      .map(({ type, params }) => ({ type, params }));
  }
  const { value, context } = snapshot;
  return { value, context, open: snapshot.hasTag('open'), asked };
}

const opened: ConnectionEvent[] = [{ type: 'leadership.won' }, { type: 'stream.opened' }];

describe('the connection of a tab', () => {
  it('follows until it has the lock, and forwards the events of the leader', () => {
    const told = after({ type: 'tab.open' }, { type: 'tab.event', event: removed('7') });
    expect(told).toEqual({
      value: { sharing: { following: 'informed' } },
      context: { lastEventId: '7', failures: 0 },
      open: true,
      asked: [{ type: 'deliver', params: { event: removed('7') } }],
    });
  });

  it('leads when it has the lock, and sends the others its events', () => {
    expect(after(...opened, { type: 'stream.event', event: removed('8') })).toEqual({
      value: { sharing: { leading: { streaming: 'open' } } },
      context: { lastEventId: '8', failures: 0 },
      open: true,
      asked: [
        { type: 'deliver', params: { event: removed('8') } },
        { type: 'tell', params: { kind: 'event', event: removed('8') } },
      ],
    });
  });

  it('reads everything again when a stream starts without a position', () => {
    expect(after(...opened).asked).toEqual([
      { type: 'readAgain', params: undefined },
      { type: 'tell', params: { kind: 'open' } },
    ]);
    const followed: ConnectionEvent[] = [{ type: 'tab.event', event: removed('7') }, ...opened];
    expect(after(...followed).asked).toEqual([{ type: 'tell', params: { kind: 'open' } }]);
  });

  it('reports a broken stream to the others, and reconnects after increasing pauses', () => {
    expect(after(...opened, { type: 'stream.ended' })).toMatchObject({
      value: { sharing: { leading: 'backingOff' } },
      open: false,
      asked: [{ type: 'tell', params: { kind: 'broken' } }],
    });
    const clock = new SimulatedClock();
    const actor = createActor(connectionMachine, { clock }).start();
    for (const event of opened) actor.send(event);
    for (const wait of [500, 1_000, 2_000, 4_000, 8_000, 8_000]) {
      actor.send({ type: 'stream.ended' });
      clock.increment(wait - 1);
      expect(actor.getSnapshot().value).toEqual({ sharing: { leading: 'backingOff' } });
      clock.increment(1);
      expect(actor.getSnapshot().value).toEqual({
        sharing: { leading: { streaming: 'connecting' } },
      });
    }
  });

  it('does not lead while its token is refused, so that another tab can', () => {
    const refused: ConnectionEvent[] = [{ type: 'leadership.won' }, { type: 'stream.refused' }];
    expect(after(...refused).value).toBe('refused');
    expect(after(...refused, { type: 'session.changed' }).value).toEqual({
      sharing: { following: 'waiting' },
    });
  });
});
