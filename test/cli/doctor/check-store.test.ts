import { readdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkStore } from '../../../src/cli/doctor/check-store.ts';
import { overwritePages } from '../../helpers/damaged-file.ts';
import { aParkedTask, aTask, aWrite } from '../../helpers/stored-tasks.ts';
import { openStore, storeFiles, temporaryFolder } from '../../helpers/test-system.ts';

async function aStore(): Promise<{ directory: string; path: string }> {
  const directory = temporaryFolder();
  const store = await openStore(directory);
  for (const id of ['one', 'two']) void store.save(id, () => aWrite(aParkedTask(id, 5_000)));
  void store.save('ended', () => aWrite(aTask({ id: 'ended', state: 'failed' })));
  await store.close();
  return { directory, path: storeFiles(directory).path };
}

describe('doctor on the task store', () => {
  it('reports a missing one', () => {
    const { path } = storeFiles(temporaryFolder());
    expect(checkStore(path)).toEqual({ status: 'pass', message: 'there is no task store yet' });
  });

  it('reports an intact one, in use or not, and leaves no file', async () => {
    const { directory, path } = await aStore();
    const before = readdirSync(directory);
    const sound = { status: 'pass', message: 'the task store is sound' };
    expect(checkStore(path)).toEqual(sound);
    expect(readdirSync(directory)).toEqual(before);
    const store = await openStore(directory);
    onTestFinished(() => store.close());
    await store.save('more', () => aWrite(aTask({ id: 'more' })));
    expect(checkStore(path)).toEqual(sound);
  });

  it('reports a damaged one, with the remedy', async () => {
    const { path } = await aStore();
    overwritePages(path, 2, 1);
    expect(checkStore(path)).toEqual({
      status: 'fail',
      message: expect.stringMatching(/tasks\.db is damaged \(/),
      fix: 'restore the file from a backup, or move it away to start without its tasks',
    });
  });

  it('reports the number of tasks that wait for another release', async () => {
    const { path } = await aStore();
    const database = new DatabaseSync(path);
    database.exec('UPDATE tasks SET machine_version = 99');
    database.close();
    expect(checkStore(path)).toEqual({
      status: 'warn',
      message: '2 tasks were saved by another release and can only be continued by it',
      fix: 'start that release, and decide or cancel them',
    });
  });
});
