import { describe, expect, it } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import { sinkMachine, sinkPause } from '../../../src/machines/audit/sink-machine.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

/** A sink whose connections and deliveries end when a test ends them. */
function startSink() {
  const clock = new ManualClock(0);
  const connections: PromiseWithResolvers<void>[] = [];
  const deliveries: PromiseWithResolvers<void>[] = [];
  const noted: string[] = [];
  const later = (list: PromiseWithResolvers<void>[]) =>
    fromPromise<void>(() => {
      const one = Promise.withResolvers<void>();
      list.push(one);
      return one.promise;
    });
  const actor = createActor(
    sinkMachine.provide({
      actors: { connect: later(connections), deliver: later(deliveries) },
      actions: {
        noteOpen: () => void noted.push('open'),
        noteFailure: (_, { error }) => void noted.push((error as Error).message),
      },
    }),
    { clock },
  );
  actor.start();
  return { actor, clock, connections, deliveries, noted };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('an audit sink', () => {
  it('connects, delivers, and waits after a failure before it reconnects', async () => {
    const { actor, clock, connections, deliveries, noted } = startSink();
    const states: unknown[] = [actor.getSnapshot().value];
    actor.subscribe(({ value }) => states.push(value));
    connections[0]?.resolve();
    await turn();
    deliveries[0]?.reject(new Error('gone'));
    await turn();
    clock.advance(999);
    expect(connections).toHaveLength(1);
    clock.advance(1);
    expect([connections.length, noted]).toEqual([2, ['open', 'gone']]);
    expect(states).toEqual(['connecting', 'open', 'backoff', 'connecting']);
  });

  it('doubles its wait after each consecutive failure, up to a minute', async () => {
    const { clock, connections } = startSink();
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      const tries = connections.length;
      connections.at(-1)?.reject(new Error('no'));
      await turn();
      clock.advance(seconds * 1_000 - 1);
      expect(connections).toHaveLength(tries);
      clock.advance(1);
      expect(connections).toHaveLength(tries + 1);
    }
  });

  it('waits and reports when its ports are not connected', async () => {
    const noted: unknown[] = [];
    const actions = { noteFailure: (_: unknown, failure: unknown) => void noted.push(failure) };
    const connect = fromPromise<void>(() => Promise.resolve());
    const unfilled = { error: new Error('the port is not filled') };
    for (const actors of [{}, { connect }]) {
      const actor = createActor(sinkMachine.provide({ actors, actions }));
      actor.start();
      await turn();
      expect([actor.getSnapshot().value, noted.splice(0)]).toEqual(['backoff', [unfilled]]);
      actor.stop();
    }
  });

  it('resets its failures when lines are delivered, not when it connects', async () => {
    const { actor, clock, connections, deliveries } = startSink();
    for (const seconds of [1, 2]) {
      connections.at(-1)?.resolve();
      await turn();
      deliveries.at(-1)?.reject(new Error('no'));
      await turn();
      clock.advance(seconds * 1_000);
    }
    connections.at(-1)?.resolve();
    await turn();
    expect(actor.getSnapshot().context).toEqual({ failures: 2 });
    actor.send({ type: 'lines.delivered' });
    expect(actor.getSnapshot().context).toEqual({ failures: 0 });
  });

  it('treats the end of a delivery as a disconnect by the receiver', async () => {
    const { actor, connections, deliveries, noted } = startSink();
    connections[0]?.resolve();
    await turn();
    deliveries[0]?.resolve();
    await turn();
    expect([actor.getSnapshot().value, noted]).toEqual([
      'backoff',
      ['open', 'the other end hung up'],
    ]);
  });

  it.each(['connecting', 'open', 'backoff'] as const)(
    'closes permanently while %s',
    async (state) => {
      const { actor, clock, connections, deliveries } = startSink();
      if (state !== 'connecting') connections[0]?.resolve();
      await turn();
      if (state === 'backoff') deliveries[0]?.reject(new Error('no'));
      await turn();
      expect(actor.getSnapshot().value).toBe(state);
      actor.send({ type: 'sink.close' });
      expect(actor.getSnapshot()).toMatchObject({ status: 'done', value: 'closed' });
      clock.advance(120_000);
      expect([connections.length, clock.pending]).toEqual([1, 0]);
    },
  );
});

describe('the wait of a sink', () => {
  it('is between one second and one minute', () => {
    expect([0, 1, 2, 6, 7, 1_000].map(sinkPause)).toEqual([
      1_000, 1_000, 2_000, 32_000, 60_000, 60_000,
    ]);
  });
});
