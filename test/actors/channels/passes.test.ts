import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Passes } from '../../../src/actors/channels/passes.ts';

it('passes run one at a time, and once more for all requests in that time', async () => {
  const ends: (() => void)[] = [];
  const passes = new Passes(() => new Promise((end) => void ends.push(end)));
  const seen: [begun: number, isUnderway: boolean][] = [];
  const look = async () => {
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();
    seen.push([ends.length, passes.isUnderway]);
  };
  passes.ask();
  passes.ask();
  seen.push([ends.length, passes.isUnderway]);
  await look();
  passes.ask();
  passes.ask();
  await look();
  ends[0]?.();
  await look();
  ends[1]?.();
  await passes.over();
  await look();
  expect(seen).toEqual([
    [0, false],
    [1, true],
    [1, true],
    [2, true],
    [2, false],
  ]);
});
