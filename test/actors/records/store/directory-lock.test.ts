import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  DirectoryLockedError,
  lockDirectory,
} from '../../../../src/actors/records/store/directory-lock.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';

describe('the lock of a state folder', () => {
  it('blocks a second daemon until the first releases it', () => {
    const directory = temporaryFolder();
    const lock = lockDirectory(directory);
    expect(() => lockDirectory(directory)).toThrow(
      new DirectoryLockedError(
        `another daemon already serves ${directory}; stop it first, or use another folder`,
      ),
    );
    lock.release();
    lockDirectory(directory).release();
  });

  it('blocks all other users of the folder and the lock, also of those that were open before', () => {
    const modeOf = (path: string) => statSync(path).mode & 0o777;
    const fresh = join(temporaryFolder(), 'state');
    const old = temporaryFolder();
    writeFileSync(join(old, 'daemon.lock'), '', { mode: 0o644 });
    chmodSync(old, 0o755);
    for (const directory of [fresh, old]) {
      const lock = lockDirectory(directory);
      expect([modeOf(directory), modeOf(join(directory, 'daemon.lock'))]).toEqual([0o700, 0o600]);
      expect(() => lockDirectory(directory)).toThrow(DirectoryLockedError);
      lock.release();
    }
  });
});
