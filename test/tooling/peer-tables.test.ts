import { describe, expect, it } from 'vitest';
import { medianTurn, type Peer, tablesOf } from '../../bench/peers/peer-tables.ts';

const measured: Peer = {
  name: 'A',
  durability: 'all',
  cold: { perSecond: 40.2, cpu: 8.126 },
  one: { perSecond: 1_234.4, cpu: 0.456 },
  many: { perSecond: 12.6, cpu: 3 },
  race: { runs: 20, toolRuns: 40, accepted: 39 },
  parked: { parked: 10_000, seconds: 3.21, heap: 512, resident: 2_048, server: 100, resumed: 1.5 },
};

describe('the tables of peers', () => {
  it('have the median of rates and of CPU times, each separately', () => {
    const turns = [
      { perSecond: 3, cpu: 1 },
      { perSecond: 1, cpu: 2 },
      { perSecond: 2, cpu: 3 },
    ];
    expect(medianTurn(turns)).toEqual({ perSecond: 2, cpu: 2 });
  });

  it('have a row for each peer in both tables', () => {
    expect(tablesOf([measured], 10_000)).toBe(
      `| park → approve → complete | what is on disk | first second, 1 at once | 1 at once | 64 at once | two approvals at the same moment |
|---|---|---|---|---|---|
| A | all | 40/s, 8.13 ms | 1,234/s, 0.46 ms | 13/s, 3.00 ms | the tool ran 40 times in 20 runs, 39 of 40 approvals accepted |

| 10,000 waiting runs | parked in | memory of each | of its server | restart to resumed |
|---|---|---|---|---|
| A | 3.2 s | 0.5 KB heap, 2.0 KB resident | 0.1 KB | 1.50 s |`,
    );
  });

  it('have the reason for a failed peer in one line of one cell, and omit what was not requested', () => {
    const reason = 'npm failed:\n a | b';
    const absent: Peer = {
      name: 'B',
      durability: 'none',
      cold: reason,
      one: reason,
      many: reason,
      race: reason,
      parked: reason,
    };
    expect(tablesOf([absent, { ...measured, parked: null }], 10)).toBe(
      `| park → approve → complete | what is on disk | first second, 1 at once | 1 at once | 64 at once | two approvals at the same moment |
|---|---|---|---|---|---|
| B | none | not measured: npm failed: a / b | not measured: npm failed: a / b | not measured: npm failed: a / b | not measured: npm failed: a / b |
| A | all | 40/s, 8.13 ms | 1,234/s, 0.46 ms | 13/s, 3.00 ms | the tool ran 40 times in 20 runs, 39 of 40 approvals accepted |

| 10 waiting runs | parked in | memory of each | of its server | restart to resumed |
|---|---|---|---|---|
| B | not measured: npm failed: a / b |  |  |  |`,
    );
  });

  it('have the number of parked runs where the time was too short, and the reason why none resumed', () => {
    const parked = {
      parked: 7,
      seconds: 35.2,
      heap: -10,
      resident: 0,
      server: null,
      resumed: 'gone',
    };
    expect(
      tablesOf([{ ...measured, parked }], 10)
        .split('\n')
        .at(-1),
    ).toBe('| A | only 7 in 35 s | 0.0 KB heap, 0.0 KB resident |  | not measured: gone |');
  });
});
