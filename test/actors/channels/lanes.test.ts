import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Lanes, laneOf } from '../../../src/actors/channels/lanes.ts';
import type { UpdateOutcome } from '../../../src/machines/channels/delivery-machine.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

const updated: UpdateOutcome = { kind: 'updated' };
const refused: UpdateOutcome = {
  kind: 'failed',
  fault: 'later',
  retryAfter: null,
  reason: 'no',
  isDefect: false,
};

/** Lanes whose messages end when a test says. */
function someLanes(most: number, mostOfOne = 1) {
  const clock = new ManualClock(0);
  const lanes = new Lanes({ clock, most, mostOfOne, onRoom: () => lanes.letIn() });
  const running: { position: number; lane: string; end: (outcome: UpdateOutcome) => void }[] = [];
  const begun: number[] = [];
  let positions = 0;
  const run = (
    lane: string,
    { isQuarantined = false, expiresAt = 0, signal = new AbortController().signal } = {},
  ) => {
    const position = ++positions;
    return lanes.run({ lane, position, expiresAt, isQuarantined }, signal, () => {
      const { promise, resolve } = Promise.withResolvers<UpdateOutcome>();
      running.push({ position, lane, end: resolve });
      begun.push(position);
      return promise;
    });
  };
  const turn = async () => {
    for (let count = 0; count < 12; count += 1) await Promise.resolve();
  };
  const end = async (outcome = updated) => {
    await turn();
    running.shift()?.end(outcome);
    await turn();
  };
  return { lanes, clock, run, begun, running, turn, end };
}

describe('the lanes of an adapter', () => {
  it('are separate for the posts and the updates of a target', () => {
    expect([laneOf('channel:slack:#a', false), laneOf('channel:slack:#a', true)]).toEqual([
      'post channel:slack:#a',
      'update channel:slack:#a',
    ]);
  });

  it('start as many as allowed in all, and of each lane as many as it accepts', async () => {
    const { run, begun, end, turn } = someLanes(3, 2);
    const ends = Promise.all([run('a'), run('a'), run('a'), run('b'), run('b')]);
    await turn();
    const steps = [[...begun]];
    for (let step = 0; step < 5; step += 1) {
      await end();
      steps.push([...begun]);
    }
    expect([steps, (await ends).length]).toEqual([
      [
        [1, 2, 4],
        [1, 2, 4, 3],
        [1, 2, 4, 3, 5],
        [1, 2, 4, 3, 5],
        [1, 2, 4, 3, 5],
        [1, 2, 4, 3, 5],
      ],
      5,
    ]);
  });

  it('start messages without failures first, nearest deadline first', async () => {
    const { run, begun, end } = someLanes(1);
    void run('a');
    void run('a', { isQuarantined: true, expiresAt: 1 });
    void run('a', { expiresAt: 9 });
    void run('a', { expiresAt: 5 });
    for (let step = 0; step < 4; step += 1) await end();
    expect(begun).toEqual([1, 4, 3, 2]);
  });

  it('send one message after a pause when two were refused, and all after it is accepted', async () => {
    const { lanes, clock, run, begun, end, turn } = someLanes(16, 2);
    for (let message = 0; message < 5; message += 1) void run('a');
    await end(refused);
    await end(refused);
    await end(refused);
    const shut = [lanes.width('a'), [...begun]];
    clock.advance(1_000);
    await turn();
    const probing = [lanes.width('a'), [...begun]];
    await end();
    expect([shut, probing, lanes.width('a'), begun]).toEqual([
      [0, [1, 2, 3]],
      [1, [1, 2, 3, 4]],
      2,
      [1, 2, 3, 4, 5],
    ]);
  });

  it('reach a valid message after fourteen refused ones within seconds', async () => {
    const { clock, run, begun, end, turn } = someLanes(16);
    for (let message = 0; message < 15; message += 1) void run('a');
    const started = clock.now();
    while (!begun.includes(15)) {
      await end(refused);
      clock.advance(100);
      await turn();
    }
    expect(clock.now() - started).toBeLessThan(5_000);
  });

  it('wait as long as a service with one place requests', async () => {
    const { lanes, clock, run, end, turn } = someLanes(16);
    for (let message = 0; message < 2; message += 1) void run('a');
    await end({ ...refused, retryAfter: 30_000 });
    const widths = [lanes.width('a')];
    for (const time of [29_999, 1]) {
      clock.advance(time);
      await turn();
      widths.push(lanes.width('a'));
    }
    expect(widths).toEqual([0, 0, 1]);
  });

  it('count a requested wait only against its message, where several go at once', async () => {
    const { lanes, run, end } = someLanes(16, 2);
    for (let message = 0; message < 2; message += 1) void run('a');
    await end({ ...refused, retryAfter: 30_000 });
    expect(lanes.width('a')).toBe(2);
  });

  it('are open after messages that are refused permanently', async () => {
    const { lanes, run, end } = someLanes(16, 2);
    const ends = [run('a'), run('a'), run('a')];
    for (const _ of ends) await end({ ...refused, fault: 'message' } as UpdateOutcome);
    expect([lanes.width('a'), lanes.isKnownToFail('a')]).toEqual([2, false]);
  });

  it('count as failing when one more was refused after a pause', async () => {
    const { lanes, clock, run, end, turn } = someLanes(16, 2);
    for (let message = 0; message < 3; message += 1) void run('a');
    await end(refused);
    await end(refused);
    const before = lanes.isKnownToFail('a');
    clock.advance(1_000);
    await turn();
    await end(refused);
    expect([before, lanes.isKnownToFail('a')]).toEqual([false, true]);
  });

  it('ignore results of messages that are no longer needed', async () => {
    const { lanes, run, end } = someLanes(16, 2);
    const gone = new AbortController();
    const ends = [run('a', { signal: gone.signal }), run('a', { signal: gone.signal })];
    gone.abort(new Error('not needed'));
    for (const _ of ends) await end(refused);
    await Promise.all(ends);
    expect(lanes.width('a')).toBe(2);
  });

  it('have no timer after they have ended', async () => {
    const { lanes, clock, run, end } = someLanes(16);
    for (let message = 0; message < 2; message += 1) void run('a');
    await end({ ...refused, retryAfter: 30_000 });
    const before = clock.pending;
    lanes.stop();
    expect([before, clock.pending]).toEqual([1, 0]);
  });

  it('reset every target when they are cleared', async () => {
    const { lanes, run, begun, end, turn } = someLanes(16);
    for (let message = 0; message < 3; message += 1) void run('a');
    await end(refused);
    await end(refused);
    const before = lanes.width('a');
    lanes.clear();
    await turn();
    expect([before, lanes.width('a'), begun]).toEqual([0, 1, [1, 2, 3]]);
  });

  it('give the place of a message that threw to the next one', async () => {
    const { lanes, clock } = someLanes(1);
    const ticket = { lane: 'a', position: 1, expiresAt: 0, isQuarantined: false };
    const { signal } = new AbortController();
    const broken = lanes.run(ticket, signal, () => Promise.reject(new Error('no')));
    const next = lanes.run({ ...ticket, position: 2 }, signal, () => Promise.resolve(updated));
    await expect(broken).rejects.toThrow('no');
    expect([await next, clock.pending]).toEqual([updated, 0]);
  });

  it('forget a message that no longer waits, or never did', async () => {
    const { run, begun, end } = someLanes(1);
    const gone = new AbortController();
    const first = run('a');
    const second = run('a', { signal: gone.signal });
    const third = run('a');
    gone.abort(new Error('not needed'));
    await expect(second).rejects.toThrow('not needed');
    await expect(run('b', { signal: gone.signal })).rejects.toThrow('not needed');
    await end();
    await end();
    expect([await first, await third, begun]).toEqual([updated, updated, [1, 3]]);
  });

  it('keep within the limit of concurrent posts, and send everything after any refusals', async () => {
    const story = fc.array(
      fc.record({ lane: fc.constantFrom('a', 'b', 'c'), isTaken: fc.boolean() }),
      {
        maxLength: 30,
      },
    );
    await fc.assert(
      fc.asyncProperty(story, fc.integer({ min: 1, max: 3 }), async (messages, mostOfOne) => {
        const { clock, run, running, begun, end } = someLanes(4, mostOfOne);
        for (const { lane } of messages) void run(lane);
        for (let step = 0; step < 400 && begun.length < messages.length; step += 1) {
          expect(running.length).toBeLessThanOrEqual(4);
          for (const lane of ['a', 'b', 'c']) {
            const own = running.filter((message) => message.lane === lane);
            expect(own.length).toBeLessThanOrEqual(mostOfOne);
          }
          const [next] = running;
          await end(messages[(next?.position ?? 1) - 1]?.isTaken === true ? updated : refused);
          if (running.length === 0) clock.advance(5_000);
        }
        expect(begun.toSorted((one, other) => one - other)).toEqual(
          messages.map((_, index) => index + 1),
        );
      }),
      { numRuns: 50 },
    );
  });
});
