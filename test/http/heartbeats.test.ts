import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Heartbeats } from '../../src/http/heartbeats.ts';
import { ManualClock } from '../helpers/manual-clock.ts';

describe('the heartbeats of many streams', () => {
  it('use one timer for ten thousand, and none for zero', () => {
    const clock = new ManualClock(0);
    const heartbeats = new Heartbeats(clock, 25_000);
    let beats = 0;
    const stops = Array.from({ length: 10_000 }, () => heartbeats.start(() => (beats += 1)));
    expect(clock.pending).toBe(1);
    clock.advance(24_999);
    expect(beats).toBe(0);
    clock.advance(600_000 - 24_999);
    expect([beats, clock.pending]).toEqual([240_000, 1]);
    for (const stop of stops) stop();
    expect(clock.pending).toBe(0);
  });

  it('leave time for other work while ten thousand are due at once', () => {
    const clock = new ManualClock(0);
    const heartbeats = new Heartbeats(clock, 25_000);
    const beats: number[] = [];
    for (let one = 0; one < 10_000; one += 1) heartbeats.start(() => beats.push(one));
    clock.jump(25_000);
    const turns: number[] = [];
    while (beats.length < 10_000) {
      const before = beats.length;
      clock.fireEarly();
      turns.push(beats.length - before);
    }
    expect([Math.max(...turns), new Set(beats).size, clock.pending]).toEqual([200, 10_000, 1]);
  });

  it('arrive at their interval, at most a 25th of it late, from any start', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 60_000 }),
        fc.array(fc.nat(50_000), { minLength: 1, maxLength: 20 }),
        (every, starts) => {
          const clock = new ManualClock(0);
          const heartbeats = new Heartbeats(clock, every);
          const late = Math.ceil(every / 25);
          for (const wait of starts) {
            clock.advance(wait);
            let last = clock.now();
            heartbeats.start(() => {
              const gap = clock.now() - last;
              expect(gap).toBeGreaterThanOrEqual(every);
              expect(gap).toBeLessThanOrEqual(every + late);
              last = clock.now();
            });
          }
          clock.advance(every * 5);
        },
      ),
    );
  });

  it('continue after the others when one stops', () => {
    const clock = new ManualClock(0);
    const heartbeats = new Heartbeats(clock, 25_000);
    const beats: number[] = [];
    const stop = heartbeats.start(() => beats.push(clock.now()));
    clock.advance(20_000);
    const left = stop();
    clock.advance(100_000);
    heartbeats.start(() => beats.push(clock.now()), left);
    clock.advance(5_000);
    expect([left, beats]).toEqual([5_000, [125_000]]);
  });

  it('are not repeated after the sleep of a machine', () => {
    const clock = new ManualClock(0);
    const heartbeats = new Heartbeats(clock, 25_000);
    const beats: number[] = [];
    heartbeats.start(() => beats.push(clock.now()));
    clock.jump(3_600_000);
    clock.fireEarly();
    clock.advance(24_999);
    expect(beats).toEqual([3_600_000]);
  });

  it('may stop one another', () => {
    const clock = new ManualClock(0);
    const heartbeats = new Heartbeats(clock, 25_000);
    const stops: (() => number)[] = [];
    let beats = 0;
    const stopAll = (): void => {
      beats += 1;
      for (const stop of stops) stop();
    };
    for (let one = 0; one < 5; one += 1) stops.push(heartbeats.start(stopAll));
    clock.advance(100_000);
    expect([beats, clock.pending]).toEqual([1, 0]);
  });
});
