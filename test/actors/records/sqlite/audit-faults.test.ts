import fs, { statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { verifyFiles } from '../../../../src/actors/records/log/audit.ts';
import { type SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import {
  UnrecordedError,
  UnsavableError,
} from '../../../../src/actors/records/store/task-store.ts';
import { anEvent, aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import {
  openStore,
  recordedEvents,
  storeFiles,
  temporaryFolder,
} from '../../../helpers/test-system.ts';

type Fault = (call: number) => unknown;

/**
 * Lets a function of the file system fail when `fault` throws, also where it was imported by name;
 * a write that fails has taken some bytes first.
 */
function failing(name: 'writeSync' | 'ftruncateSync', fault: Fault, writesFirst = 0): void {
  const genuine = fs[name] as (...args: unknown[]) => unknown;
  let calls = 0;
  const spy = vi.spyOn(fs, name).mockImplementation(((...args: unknown[]) => {
    // Only the note beside the log is written at a position.
    if (name === 'writeSync' && args.length === 5) return genuine(...args);
    calls += 1;
    const [descriptor, bytes] = args as [number, Uint8Array];
    try {
      fault(calls);
    } catch (error) {
      if (writesFirst > 0) genuine(descriptor, bytes, 0, Math.min(writesFirst, bytes.length));
      throw error;
    }
    return genuine(...args);
  }) as never);
  syncBuiltinESMExports();
  const restore = (): void => {
    spy.mockRestore();
    syncBuiltinESMExports();
  };
  restores.push(restore);
  onTestFinished(restore);
}

const restores: (() => void)[] = [];
const mendAll = (): void => restores.splice(0).forEach((restore) => restore());

function noSpace(): never {
  throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
}

/** Lets one statement of every database fail. */
function failingStatement(sql: string): void {
  const genuine = DatabaseSync.prototype.exec;
  const spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
    this: DatabaseSync,
    text: string,
  ) {
    if (text === sql) throw new Error('database or disk is full');
    genuine.call(this, text);
  });
  restores.push(() => spy.mockRestore());
  onTestFinished(() => spy.mockRestore());
}

async function storeWithOneTask(): Promise<{ directory: string; store: SqliteStore; log: string }> {
  const directory = temporaryFolder();
  const store = await openStore(directory);
  onTestFinished(async () => {
    mendAll();
    await store.close();
  });
  await store.save('t-1', () => aWrite(aTask()));
  return { directory, store, log: storeFiles(directory).audit.path };
}

/** Everything that waits for a commit: a change, a new task, and loose events. */
function outcomes(store: SqliteStore) {
  return Promise.allSettled([
    store.save('t-1', () => aWrite(aTask({ revision: 2, state: 'completed' }))),
    store.save('t-2', () => aWrite(aTask({ id: 't-2' }))),
    store.record([anEvent('t-3')]),
  ]);
}

const refused = {
  status: 'rejected',
  reason: new UnrecordedError('the task store cannot be written'),
};

const faults: [name: string, arm: () => void][] = [
  ['the log takes nothing', () => failing('writeSync', noSpace)],
  ['the log takes half a line', () => failing('writeSync', noSpace, 40)],
  ['the commit fails', () => failingStatement('COMMIT')],
  ['the transaction cannot begin', () => failingStatement('BEGIN IMMEDIATE')],
];

describe.each(faults)('when %s', (_name, arm) => {
  it('keeps nothing, tells everybody who waits, and goes on when there is room again', async () => {
    const { directory, store, log } = await storeWithOneTask();
    const { size } = statSync(log);
    arm();
    expect(await outcomes(store)).toEqual([refused, refused, refused]);
    expect([await store.rows.find('t-1'), await store.rows.find('t-2')]).toEqual([
      aTask(),
      undefined,
    ]);
    expect(statSync(log).size).toBe(size);
    expect(store.isWritable()).toBe(false);
    mendAll();
    expect(store.isWritable()).toBe(true);
    expect((await outcomes(store)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
    expect(recordedEvents(directory).map(({ task_id: id, seq }) => [id, seq])).toEqual([
      ['t-1', 1],
      ['t-3', 1],
      ['t-1', 2],
      ['t-2', 1],
    ]);
    expect(await verifyFiles([log])).toMatchObject({ ok: true, events: 4 });
  });
});

describe('a log that fails once', () => {
  it.each([1, 2, 3, 4, 5, 6])('at its write number %d loses that change alone', async (failed) => {
    const { directory, store, log } = await storeWithOneTask();
    failing('writeSync', (call) => call === failed && noSpace(), failed % 2 === 0 ? 40 : 0);
    const numbers = [1, 2, 3, 4, 5, 6];
    const kept: number[] = [];
    for (const number of numbers) {
      const id = `n-${number}`;
      const saved = store.save(id, () => aWrite(aTask({ id })));
      await saved.then(
        () => kept.push(number),
        () => store.isWritable(),
      );
    }
    expect(kept).toEqual(numbers.filter((number) => number !== failed));
    const ids = kept.map((number) => `n-${number}`);
    expect(recordedEvents(directory).map(({ task_id: id }) => id)).toEqual(['t-1', ...ids]);
    expect((await store.rows.listing.made({ limit: 9 })).tasks).toHaveLength(6);
    expect(await verifyFiles([log])).toMatchObject({ ok: true, events: 6 });
  });
});

describe('a disk that is full', () => {
  it('is noticed by the database itself, and nothing is kept', async () => {
    const { store, log } = await storeWithOneTask();
    const genuine = DatabaseSync.prototype.exec;
    let pages = 1;
    const spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
      this: DatabaseSync,
      text: string,
    ) {
      if (text === 'BEGIN IMMEDIATE') genuine.call(this, `PRAGMA max_page_count = ${pages}`);
      genuine.call(this, text);
    });
    onTestFinished(() => spy.mockRestore());
    const { size } = statSync(log);
    const large = aTask({ id: 't-2', text: 'x'.repeat(100_000) });
    await expect(store.save('t-2', () => aWrite(large))).rejects.toThrow(UnrecordedError);
    expect([statSync(log).size, await store.rows.find('t-2')]).toEqual([size, undefined]);
    pages = 1_000_000;
    expect(store.isWritable()).toBe(true);
    await store.save('t-2', () => aWrite(large));
    expect(await verifyFiles([log])).toMatchObject({ ok: true, events: 2 });
  });

  it('leaves no half line behind even when the file cannot be cut back at once', async () => {
    const { store, log } = await storeWithOneTask();
    failing('writeSync', noSpace, 40);
    failing('ftruncateSync', () => {
      throw new Error('EIO: i/o error, ftruncate');
    });
    expect(await outcomes(store)).toEqual([refused, refused, refused]);
    mendAll();
    await outcomes(store);
    expect(await verifyFiles([log])).toMatchObject({ ok: true, events: 4 });
  });
});

describe('a save that cannot be put together', () => {
  it('is refused alone', async () => {
    const { directory, store } = await storeWithOneTask();
    const broken = new Error('the snapshot is no JSON');
    const settled = await Promise.allSettled([
      store.save('t-1', () => {
        throw broken;
      }),
      store.save('t-2', () => aWrite(aTask({ id: 't-2' }))),
    ]);
    expect(settled).toEqual([
      {
        status: 'rejected',
        reason: new UnsavableError('task t-1 cannot be put together for the disk'),
      },
      { status: 'fulfilled', value: undefined },
    ]);
    expect((settled[0] as PromiseRejectedResult).reason.cause).toBe(broken);
    expect(recordedEvents(directory).map(({ task_id: id }) => id)).toEqual(['t-1', 't-2']);
    expect(store.isWritable()).toBe(true);
  });
});

describe('a log that somebody else touched while the store runs', () => {
  it('stops all writing when lines were removed for good', async () => {
    const directory = temporaryFolder();
    const log = storeFiles(directory).audit.path;
    const first = await openStore(directory);
    await first.save('t-1', () => aWrite(aTask()));
    await first.close();
    const store = await openStore(directory);
    onTestFinished(() => store.close());
    fs.truncateSync(log, 10);
    expect(await outcomes(store)).toEqual([refused, refused, refused]);
    expect(store.isWritable()).toBe(false);
    expect(statSync(log).size).toBe(10);
  });

  it('gets back the lines that are not known to be on disk yet', async () => {
    const { store, log } = await storeWithOneTask();
    fs.truncateSync(log, 10);
    await outcomes(store);
    expect(await verifyFiles([log])).toMatchObject({ ok: true, events: 4 });
  });

  it('drops what a process that died in the middle of a commit left behind', async () => {
    const { store, log } = await storeWithOneTask();
    fs.appendFileSync(log, '{"event":"never committed"}\n{"half');
    await outcomes(store);
    expect(await verifyFiles([log])).toMatchObject({ ok: true, events: 4 });
  });
});
