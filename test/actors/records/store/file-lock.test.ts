import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FileLockedError, lockFile } from '../../../../src/actors/records/store/file-lock.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';

const hint = 'stop it first';

describe('the lock of a file', () => {
  it('names its holder to a second one, and ends with the holder', () => {
    const path = join(temporaryFolder(), 'state', 'tasks.db');
    const lock = lockFile(path, 'agent one in /srv/one', hint);
    const second = () => lockFile(path, 'agent two in /srv/two', hint);
    expect(second).toThrow(
      new FileLockedError(
        `${path} is in use by process ${process.pid}, agent one in /srv/one; stop it first`,
      ),
    );
    expect(second).toThrow(FileLockedError);
    lock.release();
    second().release();
  });

  it('is one by any path of the file, before it exists and after', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'there'));
    symlinkSync('there', join(folder, 'way'));
    symlinkSync('there/tasks.db', join(folder, 'linked.db'));
    symlinkSync(join(folder, 'linked.db'), join(folder, 'twice.db'));
    const paths = [
      'there/tasks.db',
      'there/../there/tasks.db',
      'way/tasks.db',
      'linked.db',
      'twice.db',
    ];
    for (const isThere of [false, true]) {
      if (isThere) writeFileSync(join(folder, 'there/tasks.db'), '');
      for (const held of paths) {
        const lock = lockFile(join(folder, held), 'one', hint);
        for (const path of paths) {
          expect(() => lockFile(join(folder, path), 'two', hint, 1)).toThrow(
            join(folder, 'there/tasks.db'),
          );
        }
        lock.release();
      }
    }
    expect(readdirSync(folder)).toEqual(['linked.db', 'there', 'twice.db', 'way']);
    expect(readdirSync(join(folder, 'there'))).toEqual(['tasks.db', 'tasks.db.lock']);
  });

  it("belongs to its owner, and differs from another file's lock", () => {
    const folder = temporaryFolder();
    const lock = lockFile(join(folder, 'one.db'), 'one', hint);
    onTestFinished(() => lock.release());
    lockFile(join(folder, 'two.db'), 'two', hint).release();
    expect(statSync(join(folder, 'one.db.lock')).mode & 0o777).toBe(0o600);
  });

  it('reports an obstacle', () => {
    const path = join(temporaryFolder(), 'tasks.db');
    writeFileSync(`${path}.lock`, 'somebody else’s file\n'.repeat(100));
    expect(() => lockFile(path, 'one', hint)).toThrow(
      `${path} cannot be locked (Error: file is not a database); stop it first`,
    );
  });
});
