import { describe, expect, it } from 'vitest';
import { type Runs, work } from '../../bench/peers/runs.ts';

/** Runs that wait without being kept; the tool runs as often as they are approved. */
function fakeRuns(isApprovedOnce: boolean): Runs & { approved: string[] } {
  const approved: string[] = [];
  let parked = 0;
  return {
    approved,
    toolRuns: () => approved.length,
    park: async () => `run ${(parked += 1)}`,
    approve: async (id) => {
      if (isApprovedOnce && approved.includes(id)) throw new Error(`${id} was approved before`);
      approved.push(id);
    },
  };
}

describe('a benchmark with runs', () => {
  it('counts the runs of the tool and the accepted approvals in a race', async () => {
    expect([
      await work(fakeRuns(true), { kind: 'race', runs: 3 }),
      await work(fakeRuns(false), { kind: 'race', runs: 3 }),
    ]).toEqual([
      { runs: 3, toolRuns: 3, accepted: 3 },
      { runs: 3, toolRuns: 6, accepted: 6 },
    ]);
  });

  it('parks the requested number, and names the first, the middle and the last', async () => {
    const asked = { kind: 'park', callers: 4, runs: 9, seconds: 60 } as const;
    expect(await work(fakeRuns(true), asked)).toEqual({
      parked: 9,
      seconds: expect.any(Number),
      some: ['run 1', 'run 5', 'run 9'],
    });
  });

  it('warms up with the requested number of cycles', async () => {
    const runs = fakeRuns(true);
    const asked = { kind: 'cycle', callers: 4, seconds: 60, jobs: 9 } as const;
    expect(await work(runs, asked)).toEqual({ jobs: 9, seconds: expect.any(Number) });
    expect(runs.approved).toHaveLength(9);
  });

  it('starts nothing after the time limit', async () => {
    const runs = fakeRuns(true);
    expect([
      await work(runs, { kind: 'park', callers: 4, runs: 9, seconds: 0 }),
      await work(runs, { kind: 'cycle', callers: 4, seconds: 0 }),
    ]).toEqual([
      { parked: 0, seconds: expect.any(Number), some: [] },
      { jobs: 0, seconds: expect.any(Number) },
    ]);
  });

  it('approves the given runs', async () => {
    const runs = fakeRuns(true);
    await work(runs, { kind: 'resume', ids: ['run 1', 'run 2'] });
    expect(runs.approved).toEqual(['run 1', 'run 2']);
  });
});
