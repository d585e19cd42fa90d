import type { HoldsAdapter } from './adapter.ts';
import { holdGroups, missingIn } from './check.ts';
import { holdChecks } from './hold-checks.ts';
import {
  type HoldCheckOptions,
  type HoldReport,
  type HoldResult,
  runHoldChecks,
} from './run-hold-checks.ts';

/** The functions of a test runner, such as vitest, jest, mocha and node:test. */
export interface TestRunner {
  describe: (title: string, define: () => void) => unknown;
  it: {
    (title: string, test: () => Promise<void>): unknown;
    skip: (title: string, test: () => Promise<void>) => unknown;
  };
}

/**
 * Registers each check as a test of a test runner; a check that the adapter does not offer is a skipped test. The first test that runs
 * starts all checks, which run at once, so its runner needs a time limit for the whole.
 */
export function registerHoldChecks(
  { describe, it }: TestRunner,
  adapter: HoldsAdapter,
  options: HoldCheckOptions = {},
): void {
  let run: Promise<HoldReport> | undefined;
  const start = () => (run ??= runHoldChecks(adapter, options));
  const isSelected = ({ id, group }: { id: string; group: string }) =>
    options.only?.some((name) => name === id || name === group) ?? true;
  for (const group of holdGroups) {
    const checks = holdChecks.filter((check) => check.group === group && isSelected(check));
    if (checks.length === 0) continue;
    describe(group, () => {
      for (const check of checks) {
        const missing = missingIn(adapter, check);
        const test = async () => {
          const { results } = await start();
          throwFailure(results.find(({ id }) => id === check.id));
        };
        if (missing.length === 0) it(check.title, test);
        else it.skip(`${check.title} (not offered: ${missing.join(', ')})`, test);
      }
    });
  }
}

function throwFailure(result: HoldResult | undefined): void {
  if (result?.status === 'failed') throw new Error(`${result.id}: ${result.why}`);
}
