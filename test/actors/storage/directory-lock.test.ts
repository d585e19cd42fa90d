import { describe, expect, it } from 'vitest';
import { DirectoryLockedError, lockDirectory } from '../../../src/actors/storage/directory-lock.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

describe('the lock of a state folder', () => {
  it('keeps a second daemon out until the first lets go', () => {
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
});
