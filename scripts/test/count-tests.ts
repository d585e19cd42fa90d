import type { Vitest } from 'vitest/node';

/** How many tests, checks or both passed and failed. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
}

/**
 * Counts the tests of a finished run; skipped ones are neither. A file that failed outside its tests, an error that no
 * test caught and a run without a test are a failure each.
 */
export function countTests(vitest: Pick<Vitest, 'state'>): Tally {
  let passed = 0;
  let failed = vitest.state.getUnhandledErrors().length;
  const modules = vitest.state.getTestModules();
  for (const module of modules) {
    const failedBefore = failed;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') passed += 1;
      if (state === 'failed' || state === 'pending') failed += 1;
    }
    if (!module.ok() && failed === failedBefore) failed += 1;
  }
  if (passed + failed === 0) failed = 1;
  return { passed, failed };
}
