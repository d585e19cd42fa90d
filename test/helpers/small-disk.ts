import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** True where mounting is not possible, and the tests that need it are omitted. */
export const isWithoutMount = process.env['HOLDPOINT_TEST_WITHOUT_MOUNT'] === '1';

/** A disk of some megabytes in memory, which can be full. Mounting one needs the rights of root. */
export class SmallDisk {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Mounts an empty one. */
  static mount(megabytes: number): SmallDisk {
    const path = mkdtempSync(join(tmpdir(), 'holdpoint-disk-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path]);
    } catch (cause) {
      rmdirSync(path);
      throw new Error('run the tests as root, or set HOLDPOINT_TEST_WITHOUT_MOUNT=1', { cause });
    }
    // The folder of a server lies in it, which belongs to another user.
    chmodSync(path, 0o755);
    return new SmallDisk(path);
  }

  /** Fills it to the last page. */
  fill(): void {
    const page = Buffer.alloc(4096);
    const block = Buffer.alloc(1_048_576);
    for (const bytes of [block, page]) {
      try {
        for (;;) appendFileSync(this.#filler, bytes);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
  }

  /** Removes what it was filled with. */
  makeRoom(): void {
    rmSync(this.#filler, { force: true });
  }

  /** Unmounts it, with all that is on it. */
  unmount(): void {
    execFileSync('umount', ['--lazy', this.path]);
    rmdirSync(this.path);
  }

  get #filler(): string {
    return join(this.path, 'filler');
  }
}
