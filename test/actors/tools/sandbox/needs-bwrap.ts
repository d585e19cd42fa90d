import { spawnSync } from 'node:child_process';
import { beforeAll } from 'vitest';
import { findProgram } from '../../../../src/actors/process/process.ts';
import { probeSandbox } from '../../../../src/actors/tools/sandbox/sandbox.ts';

/** True when the user has declared that this machine cannot have a sandbox. */
export const isWithoutBwrap = process.env['HOLDPOINT_TEST_WITHOUT_BWRAP'] === '1';

/** Makes the tests of a file fail with a message when there is no sandbox, after an attempt to install it. */
export function needsBwrap(): void {
  beforeAll(async () => {
    if (isWithoutBwrap) return;
    if (findProgram('bwrap') === null)
      spawnSync('/usr/bin/apt-get', ['install', '-y', 'bubblewrap']);
    const { problem } = await probeSandbox('bwrap');
    if (problem !== undefined) {
      throw new Error(`${problem}; or set HOLDPOINT_TEST_WITHOUT_BWRAP=1 to leave these tests out`);
    }
  }, 120_000);
}
