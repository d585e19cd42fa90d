import { describe, expect, it } from 'vitest';
import { runs } from '../helpers/runs.ts';
import { simulate } from './simulation.ts';

/** How many seeds each test plays; `npm run simulate` plays as many as it is asked to. */
const portion = runs(25);

const firsts = Array.from({ length: 8 }, (_, index) => 1 + index * portion);

describe('a story with faults of the disk, the network and the process', () => {
  it.each(firsts)('breaks no invariant, with any events: seeds from %i', async (first) => {
    let decisions = 0;
    let holds = 0;
    for (let seed = first; seed < first + portion; seed += 1) {
      const simulated = await simulate(seed);
      expect(simulated.broken, `npm run simulate -- --first ${seed} --seeds 1`).toEqual([]);
      decisions += simulated.decisions;
      holds += simulated.holds;
    }
    expect(Math.min(decisions, holds)).toBeGreaterThan(portion);
  });

  it.each([
    ['agent', 3],
    ['gate', 4],
  ])(
    'of an %s is the same to the last byte of the log when its seed is replayed',
    async (_, seed) => {
      expect(await simulate(seed)).toEqual(await simulate(seed));
      expect((await simulate(seed)).fingerprint).not.toBe((await simulate(seed + 8)).fingerprint);
    },
  );
});
