import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { patient } from './test/helpers/patient.ts';
import { suiteOf } from './test/helpers/runs.ts';
import { kindsOfTests } from './test/tooling/kinds-of-tests.ts';
import { memoryFolder } from './test/tooling/memory-folder.ts';

const temporary = memoryFolder() ?? tmpdir();
const compiled = join(import.meta.dirname, 'node_modules/.cache/holdpoint-test');
const { pure, sockets, processes } = kindsOfTests(import.meta.dirname, suiteOf());

/** The black-box suite with agents that keep their tasks in PostgreSQL, where that is asked for (`npm run test:postgres`). */
const overPostgres =
  process.env['HOLDPOINT_TEST_STORE'] === 'postgres'
    ? {
        extends: true as const,
        test: {
          name: 'postgres',
          include: ['test/conformance/**/*.test.ts'],
          // They bring databases of their own.
          exclude: ['test/conformance/{database-*,replicas*,restored-database}*.test.ts'],
          globalSetup: ['test/tooling/postgres-once.ts', 'test/tooling/compile-once.ts'],
          env: { NODE_COMPILE_CACHE: compiled },
        },
      }
    : null;

export default defineConfig({
  test: {
    globals: false,
    // Agents that tests run are not on the list of whoever runs the tests.
    env: {
      TMPDIR: temporary,
      XDG_STATE_HOME: join(temporary, `holdpoint-test-state-${process.pid}`),
    },
    globalSetup: ['test/tooling/memory-folder.ts'],
    // Half of the time a test waits for a process or a socket.
    maxWorkers: 4,
    // Many tests start processes; a slow machine is no failure.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    expect: { poll: patient },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // Files share a worker, and each starts from the same state.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    setupFiles: ['test/tooling/ask-the-same.ts', 'test/tooling/leave-as-found.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          include: pure,
          setupFiles: ['test/tooling/pure-tripwire.ts'],
        },
      },
      { extends: true, test: { name: 'sockets', include: sockets } },
      {
        extends: true,
        test: {
          name: 'processes',
          include: processes,
          globalSetup: [
            'test/tooling/page-once.ts',
            'test/tooling/browser-once.ts',
            'test/tooling/compile-once.ts',
          ],
          // What one program has compiled serves the next.
          env: {
            NODE_COMPILE_CACHE: compiled,
          },
        },
      },
      ...(overPostgres === null ? [] : [overPostgres]),
    ],
    coverage: {
      provider: 'v8',
      include: ['{src,packages}/**/*.ts'],
      reporter: ['text-summary', 'html'],
    },
  },
});
