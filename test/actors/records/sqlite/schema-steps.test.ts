import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { Task } from '../../../../src/machines/domain/task.ts';
import { makeOlder } from '../../../helpers/older-store.ts';
import { aParkedTask, aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { openStore, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';

const ended = aTask({
  id: 't-ended',
  contextId: 'talk',
  state: 'completed',
  history: [
    { role: 'user', parts: [{ kind: 'data', data: [1.5, null, '\u2028"'] }], messageId: 'm' },
  ],
  answer: [{ kind: 'text', text: 'done — ‘really’' }],
});

async function storeOfVersion2(...tasks: Task[]): Promise<string> {
  const directory = temporaryFolder();
  const store = await openStore(directory);
  for (const task of tasks) void store.save(task.id, () => aWrite(task));
  await store.close();
  makeOlder(storeFiles(directory).path, 2);
  return directory;
}

describe('a store of version 2', () => {
  it('is taken over with every task, and lists them without what was said', async () => {
    const parked = aParkedTask('t-parked', 5_000);
    const store = await openStore(await storeOfVersion2(ended, parked));
    expect([await store.rows.find('t-ended'), await store.rows.find('t-parked')]).toEqual([
      ended,
      parked,
    ]);
    expect((await store.rows.listing.changed({ contextId: 'talk', limit: 9 })).tasks).toEqual([
      { ...ended, history: [], answer: null },
    ]);
    await store.close();
  });

  it('keeps a row whole that SQLite cannot take apart', async () => {
    const directory = await storeOfVersion2(ended);
    const deep = 2_000;
    const data = JSON.parse(`${'['.repeat(deep)}${']'.repeat(deep)}`);
    const nested = {
      ...ended,
      history: [{ ...ended.history[0]!, parts: [{ kind: 'data', data }] }],
    };
    const database = new DatabaseSync(storeFiles(directory).path);
    database.prepare('UPDATE tasks SET task = ?').run(JSON.stringify(nested));
    database.close();
    const store = await openStore(directory);
    expect(await store.rows.find('t-ended')).toEqual(nested);
    expect((await store.rows.listing.made({ limit: 9 })).tasks).toMatchObject([
      { history: [], answer: null },
    ]);
    await store.close();
  });
});
