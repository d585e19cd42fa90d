import { expect, it } from 'vitest';
import { killWriters } from '../../../../scripts/soak/kill-writers.ts';

it('log and store agree while writers are killed at random', async () => {
  const report = await killWriters({ kills: 20, limit: 60_000 });
  expect(report).toEqual({
    kills: 20,
    kept: expect.any(Number),
    files: expect.any(Number),
    seconds: expect.any(Number),
    wrong: [],
  });
  expect(report.kept).toBeGreaterThan(20);
  expect(report.files).toBeGreaterThan(1);
}, 90_000);
