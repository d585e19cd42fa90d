import { expect, it } from 'vitest';
import { watchClock } from '../../src/actors/watch-clock.ts';
import { ManualClock } from '../helpers/manual-clock.ts';
import { nine } from '../helpers/test-system.ts';

/** Two clocks that go alike until the wall clock is set. */
function watched(record = async (): Promise<void> => undefined) {
  const clock = new ManualClock(nine);
  const recorded: object[] = [];
  const logged: [string, object][] = [];
  let set = 0;
  const heard = (level: string) => (fields: object) => void logged.push([level, fields]);
  const stop = watchClock({
    clock,
    wall: () => clock.now() + set,
    record: async (event) => {
      recorded.push(event);
      await record();
    },
    log: { info: heard('info'), warn: heard('warn'), error: heard('error') },
  });
  return { clock, recorded, logged, stop, setWall: (by: number) => void (set = by) };
}

const minute = 60_000;

it('clocks that agree, or drift by seconds, are not reported', () => {
  const { clock, recorded, logged, setWall } = watched();
  clock.advance(5 * minute);
  setWall(4_999);
  clock.advance(5 * minute);
  expect([recorded, logged]).toEqual([[], []]);
});

it('a change of the wall clock is recorded and logged once, within a minute', () => {
  const { clock, recorded, logged, setWall } = watched();
  setWall(3_600_000);
  clock.advance(minute);
  const fields = { difference_ms: 3_600_000, wall: '2026-07-01T10:01:00.000Z' };
  expect(recorded).toEqual([{ event: 'clock_stepped', fields }]);
  expect(logged).toEqual([['warn', fields]]);
  clock.advance(10 * minute);
  expect(recorded).toHaveLength(1);
});

it('each further change is recorded, including the way back', () => {
  const { clock, recorded, setWall } = watched();
  for (const difference of [-10_000, -30_000, 0]) {
    setWall(difference);
    clock.advance(minute);
  }
  expect(recorded).toMatchObject(
    [-10_000, -30_000, 0].map((difference) => ({ fields: { difference_ms: difference } })),
  );
});

it('the watch continues after a change that could not be recorded', async () => {
  const full = new Error('the disk is full');
  const { clock, recorded, logged, setWall } = watched(() => Promise.reject(full));
  setWall(10_000);
  clock.advance(minute);
  await Promise.resolve();
  await new Promise((next) => setImmediate(next));
  expect(logged.at(-1)).toEqual(['error', { error: full }]);
  setWall(20_000);
  clock.advance(minute);
  expect(recorded).toHaveLength(2);
});

it('the watch stops', () => {
  const { clock, recorded, setWall, stop } = watched();
  stop();
  setWall(10_000);
  clock.advance(5 * minute);
  expect([recorded, clock.pending]).toEqual([[], 0]);
});
