import { join } from 'node:path';
import type { PartialStrykerOptions } from '@stryker-mutator/api/core';

/** Returns the file in which the results of a folder are kept for the next time. */
export function keptResults(folder: string): string {
  return `.cache/mutated/${folder.replaceAll('/', '-')}.json`;
}

/**
 * Returns how Stryker changes the sources of a folder; the tests are those that `vitest.config.ts` receives. With `rest`
 * only those changes are tried that are new, or of which no result is kept.
 */
export function strykerOptions(folder: string, rest: boolean): PartialStrykerOptions {
  return {
    incremental: true,
    incrementalFile: keptResults(folder),
    force: !rest,
    plugins: ['@stryker-mutator/vitest-runner', join(import.meta.dirname, 'chart-words.ts')],
    ignorers: ['chart-words'],
    testRunner: 'vitest',
    vitest: { configFile: 'scripts/mutate/vitest.config.ts', related: false },
    mutate: [`src/${folder}/*.ts`],
    coverageAnalysis: 'perTest',
    // A chart is one value, made when its module is loaded; elsewhere such values would cost hours and are mostly sentences.
    ignoreStatic: !folder.startsWith('machines'),
    // The compiler of TypeScript 7 has no interface for tools, so what it is set to is not read.
    tsconfigFile: 'none.json',
    disableTypeChecks: false,
    concurrency: 2,
    timeoutMS: 8_000,
    tempDirName: '.mutated',
    reporters: ['progress-append-only'],
    ignorePatterns: ['dist', 'docs/screens'],
    allowConsoleColors: false,
  };
}
