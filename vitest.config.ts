import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globals: false,
    // Agents that tests run are not on the list of whoever runs the tests.
    env: { XDG_STATE_HOME: join(tmpdir(), `holdpoint-test-state-${process.pid}`) },
    // Half of the time a test waits for a process or a socket.
    maxWorkers: 3,
    // Many tests start processes; a slow machine is no failure.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'html'],
    },
  },
});
