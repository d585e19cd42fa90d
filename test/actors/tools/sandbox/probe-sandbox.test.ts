import { describe, expect, it, vi } from 'vitest';
import { probeSandbox } from '../../../../src/actors/tools/sandbox/sandbox.ts';
import { isWithoutBwrap, needsBwrap } from './needs-bwrap.ts';

needsBwrap();

/** Does `run` on a machine whose temporary folder cannot be used. */
async function withoutTemporaryFolder<T>(run: () => Promise<T>): Promise<T> {
  vi.stubEnv('TMPDIR', '/proc');
  try {
    return await run();
  } finally {
    vi.unstubAllEnvs();
  }
}

describe('probeSandbox', () => {
  it('skips the check for env', async () => {
    expect(await withoutTemporaryFolder(() => probeSandbox('env'))).toEqual({ level: 'env' });
  });

  it('names the missing package', async () => {
    const nothing = () => null;
    expect(await probeSandbox('bwrap', nothing)).toEqual({
      level: 'bwrap',
      problem:
        'egress.sandbox is bwrap, but bwrap is not installed; install the package bubblewrap (0.8 or later), or set egress.sandbox to env',
    });
    expect(await probeSandbox('auto', nothing)).toEqual({
      level: 'env',
      warning:
        'scripts run without a sandbox: bwrap is not installed; install the package bubblewrap (0.8 or later)',
    });
    expect(await probeSandbox('env', nothing)).toEqual({
      level: 'env',
      warning:
        'scripts run without resource limits, as prlimit is not installed; install the package util-linux',
    });
  });

  it.skipIf(isWithoutBwrap)('finds a working bwrap', async () => {
    expect(await probeSandbox('bwrap')).toEqual({ level: 'bwrap' });
    expect(await probeSandbox('auto')).toEqual({ level: 'bwrap' });
  });

  it.skipIf(isWithoutBwrap)('reports a sandbox that cannot be tried as a problem', async () => {
    expect(await withoutTemporaryFolder(() => probeSandbox('bwrap'))).toEqual({
      level: 'bwrap',
      problem:
        'egress.sandbox is bwrap, but bwrap could not be tried; see that the temporary folder can be written to, or set egress.sandbox to env',
    });
  });

  it.skipIf(isWithoutBwrap)('falls back with a warning when no sandbox is chosen', async () => {
    expect(await withoutTemporaryFolder(() => probeSandbox('auto'))).toEqual({
      level: 'env',
      warning:
        'scripts run without a sandbox: bwrap could not be tried; see that the temporary folder can be written to',
    });
  });
});
