import { defineConfig } from 'vitest/config';
import { CheapestFirst } from './cheapest-first.ts';

/** The tests of one folder, as the suite asks them. */
export default defineConfig({
  test: {
    // As in the suite; a fifth of the time besides.
    isolate: false,
    include: [`test/${process.env['HOLDPOINT_MUTATED'] ?? 'nothing'}/*.test.ts`],
    sequence: { sequencer: CheapestFirst },
    exclude: [
      // It reads sources, which have the changes in them.
      'test/actors/records/log/browser.test.ts',
      // It asks 4,000 times; what it would notice, others must.
      'test/machines/wizard/wizard-walk.test.ts',
      // It measures how long a megabyte takes, of which the switches of the changes take most.
      'test/machines/skill-builder/long-answers.test.ts',
    ],
    // Properties run for each change.
    env: { HOLDPOINT_RUNS: '8' },
    // A machine that does other things besides is no change that was noticed.
    testTimeout: 60_000,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    setupFiles: ['test/tooling/ask-the-same.ts'],
  },
});
