import { execFileSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import { UnrecordedError } from '../../../../src/actors/records/store/task-store.ts';
import { anEvent, aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';
import { eventsOf, verifyLog } from './whole-log.ts';

const megabyte = 1024 * 1024;

/** A disk of a few megabytes; `null` where this user may mount none. */
function smallDisk(size: string): string | null {
  const folder = temporaryFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], {
      stdio: 'pipe',
    });
  } catch {
    return null;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
  return folder;
}

/** Takes all room there is but a few bytes, and returns what gives it back. */
function fill(folder: string): () => void {
  const file = join(folder, 'ballast');
  let left = statfsSync(folder).bavail * statfsSync(folder).bsize;
  const pieces: Buffer[] = [];
  for (; left > 0; left -= megabyte) pieces.push(Buffer.alloc(Math.min(left, megabyte), 1));
  writeFileSync(file, Buffer.concat(pieces));
  return () => rmSync(file);
}

/** Saves tasks until one is refused; returns how many were saved. */
async function saveUntilRefused(store: SqliteStore, name: string): Promise<number> {
  for (let number = 0; number < 2_000; number += 1) {
    const id = `${name}-${number}`;
    const task = aTask({ id, text: 'x'.repeat(2_000) });
    const outcome = await store.save(id, () => aWrite(task)).catch((error: unknown) => error);
    if (outcome instanceof UnrecordedError) return number;
  }
  throw new Error('the disk was never full');
}

it('decisions are refused on a really full disk, and continue without a gap later', async (context) => {
  const folder = smallDisk('4m');
  if (folder === null) {
    return context.skip('no file system may be mounted here; a file that may not grow stands in');
  }
  const { path, audit } = storeFiles(folder);
  const store = await SqliteStore.open({ path, audit });
  let saved = 0;
  for (const round of ['a', 'b', 'c']) {
    const free = fill(folder);
    saved += await saveUntilRefused(store, round);
    expect(store.isWritable()).toBe(false);
    await expect(store.record([anEvent('refused')])).rejects.toThrow(UnrecordedError);
    expect(await verifyLog(audit.path)).toMatchObject({ ok: true });
    free();
    expect(store.isWritable()).toBe(true);
    await store.record([anEvent(`after-${round}`)]);
  }
  await store.close();
  const ids = eventsOf(audit.path).flatMap(({ task_id: id }) => id ?? []);
  const afterwards = ids.filter((id) => id.startsWith('after-'));
  expect(afterwards).toEqual(['after-a', 'after-b', 'after-c']);
  expect(ids).toHaveLength(saved + afterwards.length);
  expect(ids).not.toContain('refused');
  expect(await verifyLog(audit.path)).toMatchObject({ ok: true });
});

it('a file that may not grow is treated like a full disk, where nothing can be mounted', () => {
  const folder = temporaryFolder();
  const script = join(import.meta.dirname, 'limited-process.ts');
  const report = execFileSync(
    'prlimit',
    ['--fsize=2097152', process.execPath, '--disable-warning=ExperimentalWarning', script, folder],
    { encoding: 'utf8' },
  );
  expect(JSON.parse(report)).toEqual({ refused: true, ok: true, isComplete: true });
});
