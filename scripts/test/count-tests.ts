import type { Vitest } from 'vitest/node';

/** How many tests, checks or both passed and failed. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
}

/** The tally of a run, and those of the files that failed, by their path. */
export interface TestTally extends Tally {
  readonly failing: ReadonlyMap<string, Tally>;
}

/**
 * Counts the tests of a finished run; skipped ones are neither. A file that failed outside its tests, an error that no
 * test caught and a run without a test are a failure each. An error that names no file is in the tally of none.
 */
export function countTests(vitest: Pick<Vitest, 'state'>): TestTally {
  const tallies = new Map<string, { passed: number; failed: number }>();
  const tallyOf = (file: string) => {
    const tally = tallies.get(file) ?? { passed: 0, failed: 0 };
    tallies.set(file, tally);
    return tally;
  };
  for (const module of vitest.state.getTestModules()) {
    const tally = tallyOf(module.moduleId);
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') tally.passed += 1;
      if (state === 'failed' || state === 'pending') tally.failed += 1;
    }
    if (!module.ok() && tally.failed === 0) tally.failed += 1;
  }
  let failed = 0;
  for (const error of vitest.state.getUnhandledErrors()) {
    const file = (error as { VITEST_TEST_PATH?: unknown }).VITEST_TEST_PATH;
    if (typeof file === 'string' && tallies.has(file)) tallyOf(file).failed += 1;
    else failed += 1;
  }
  const passed = sum([...tallies.values()].map((tally) => tally.passed));
  failed += sum([...tallies.values()].map((tally) => tally.failed));
  const failing = new Map([...tallies].filter(([, tally]) => tally.failed > 0));
  return { passed, failed: passed + failed === 0 ? 1 : failed, failing };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
