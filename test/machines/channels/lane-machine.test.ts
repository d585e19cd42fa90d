import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor, SimulatedClock } from 'xstate';
import { type LaneEvent, laneMachine } from '../../../src/machines/channels/lane-machine.ts';

/** A lane on a clock that a test moves. */
function startLane(isPaced = false) {
  const clock = new SimulatedClock();
  const lane = createActor(laneMachine, { clock, input: { isPaced } }).start();
  const state = () => lane.getSnapshot().value;
  const refuse = (message: number, retryAfter: number | null = null) => {
    lane.send({ type: 'message.refused', message, retryAfter });
    return state();
  };
  const take = () => {
    lane.send({ type: 'message.taken' });
    return state();
  };
  const wait = (milliseconds: number) => {
    clock.increment(milliseconds);
    return state();
  };
  return { lane, refuse, take, wait, state };
}

describe('the lane to a target', () => {
  it('counts a refusal against its message until another message is refused', () => {
    const { refuse, take } = startLane();
    expect([refuse(1), refuse(1), take(), refuse(1), refuse(2)]).toEqual([
      'doubted',
      'doubted',
      'open',
      'doubted',
      'shut',
    ]);
  });

  it('retries a target that accepts nothing after one, two, four, then every five seconds', () => {
    const { lane, refuse, wait } = startLane();
    refuse(1);
    refuse(2);
    const pauses = [];
    for (let message = 3; message < 8; message += 1) {
      pauses.push(lane.getSnapshot().context.pause);
      wait(lane.getSnapshot().context.pause - 1);
      expect(wait(0)).toBe('shut');
      expect(wait(1)).toBe('probing');
      refuse(message);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 5_000, 5_000]);
  });

  it('opens with the first accepted message, and resets its failures', () => {
    const { lane, refuse, take, wait } = startLane();
    refuse(1);
    refuse(2);
    wait(1_000);
    expect([take(), lane.getSnapshot().context]).toEqual([
      'open',
      { isPaced: false, doubted: null, failures: 0, pause: 1_000 },
    ]);
  });

  it('opens when a message in progress is accepted late', () => {
    const { refuse, take } = startLane();
    refuse(1);
    refuse(2);
    expect([refuse(3), take()]).toEqual(['shut', 'open']);
  });

  it('waits as long as a rate-limited service requests, at most ten minutes', () => {
    const { refuse, take, wait } = startLane(true);
    expect([refuse(1, 30_000), wait(29_999), wait(1), take()]).toEqual([
      'shut',
      'shut',
      'probing',
      'open',
    ]);
    expect([refuse(1), refuse(1, 86_400_000), wait(599_999), wait(1)]).toEqual([
      'doubted',
      'shut',
      'shut',
      'probing',
    ]);
    expect([refuse(4, 2_000), wait(1_999), wait(1)]).toEqual(['shut', 'shut', 'probing']);
  });

  it("treats a receiver's requested wait as a property of its message", () => {
    const { refuse } = startLane(false);
    expect([refuse(1, 30_000), refuse(2, 30_000)]).toEqual(['doubted', 'shut']);
  });

  it('increases its pause for a rate-limited service that requests no time', () => {
    const { lane, refuse, wait } = startLane(true);
    expect([refuse(1), refuse(1), refuse(2), lane.getSnapshot().context.pause]).toEqual([
      'doubted',
      'doubted',
      'shut',
      1_000,
    ]);
    wait(1_000);
    expect([refuse(3), lane.getSnapshot().context.pause]).toEqual(['shut', 2_000]);
  });

  it('sends all messages while it is open or in doubt, and one at a time while it probes', () => {
    const { lane, refuse, wait } = startLane();
    const tags = () => [...lane.getSnapshot().tags];
    const told = [tags()];
    for (const move of [() => refuse(1), () => refuse(2), () => wait(1_000)]) {
      move();
      told.push(tags());
    }
    expect(told).toEqual([['open'], ['open'], [], ['probing']]);
  });

  it('waits at most five seconds for a target that requests no time', () => {
    const event = fc.oneof(
      fc.constant<LaneEvent>({ type: 'message.taken' }),
      fc
        .nat(3)
        .map((message): LaneEvent => ({ type: 'message.refused', message, retryAfter: null })),
    );
    fc.assert(
      fc.property(fc.array(event), fc.boolean(), (events, isPaced) => {
        const { lane, wait } = startLane(isPaced);
        for (const sent of events) lane.send(sent);
        expect(wait(5_000)).not.toBe('shut');
      }),
    );
  });
});
