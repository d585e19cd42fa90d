import { expect, it } from 'vitest';
import { runHookKills } from '../../scripts/crash/hook-kills.ts';

it('kills of hooks, programs and their gate open no second question, allow no call and lose none', async () => {
  const result = await runHookKills({ kills: 30, seed: 30 });
  const { mostQuestions, letThrough, lost, broken, calls, ran } = result;
  expect({ mostQuestions, letThrough, lost, broken }).toEqual({
    ...{ mostQuestions: 1, letThrough: 0, lost: 0, broken: [] },
  });
  expect(Math.min(calls, ran)).toBeGreaterThan(3);
}, 240_000);
