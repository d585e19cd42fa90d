import fs, { readFileSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
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
  copyFiles,
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
function failing(name: 'writeSync', fault: Fault, writesFirst = 0): void {
  const genuine = fs[name] as (...args: unknown[]) => unknown;
  let calls = 0;
  const spy = vi.spyOn(fs, name).mockImplementation(((...args: unknown[]) => {
    calls += 1;
    const [descriptor, bytes, offset, , position] = args as [
      number,
      Uint8Array,
      number,
      number,
      number | null,
    ];
    try {
      fault(calls);
    } catch (error) {
      if (writesFirst > 0)
        genuine(descriptor, bytes, offset, Math.min(writesFirst, bytes.length), position);
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

const stored = { status: 'fulfilled', value: undefined };

const statementFaults: [name: string, arm: () => void][] = [
  ['the commit fails', () => failingStatement('COMMIT')],
  ['the transaction cannot begin', () => failingStatement('BEGIN IMMEDIATE')],
];

describe.each(statementFaults)('when %s', (_name, arm) => {
  it('stores nothing, refuses each save, and recovers once there is space again', async () => {
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
    expect(await outcomes(store)).toEqual([stored, stored, stored]);
    expect(recordedEvents(directory).map(({ task_id: id, seq }) => [id, seq])).toEqual([
      ['t-1', 1],
      ['t-3', 1],
      ['t-1', 2],
      ['t-2', 1],
    ]);
    expect(await verifyFiles([log])).toMatchObject({ ok: true, events: 4 });
  });
});

const fileFaults: [name: string, arm: () => void][] = [
  ['the log takes nothing', () => failing('writeSync', noSpace)],
  ['the log takes half a line', () => failing('writeSync', noSpace, 40)],
];

describe.each(fileFaults)('when %s', (_name, arm) => {
  it('keeps the commit, refuses the next one, and writes the lines once there is space again', async () => {
    const { directory, store, log } = await storeWithOneTask();
    arm();
    expect(await outcomes(store)).toEqual([stored, stored, stored]);
    expect(store.isWritable()).toBe(false);
    await expect(store.record([anEvent('t-4')])).rejects.toEqual(refused.reason);
    mendAll();
    expect(store.isWritable()).toBe(true);
    await store.record([anEvent('t-5')]);
    expect(recordedEvents(directory).map(({ task_id: id, seq }) => [id, seq])).toEqual([
      ['t-1', 1],
      ['t-3', 1],
      ['t-1', 2],
      ['t-2', 1],
      ['t-5', 1],
    ]);
    expect(await verifyFiles([log])).toMatchObject({ ok: true, events: 5 });
  });

  it('writes the lines at the next start', async () => {
    const { directory, store, log } = await storeWithOneTask();
    arm();
    await outcomes(store);
    const copy = copyFiles(directory);
    mendAll();
    const missing = readFileSync(log).length - statSync(storeFiles(copy).audit.path).size;
    const again = await openStore(copy);
    await again.close();
    expect(
      recordedEvents(copy)
        .map(({ event, fields }) => fields ?? event)
        .at(-1),
    ).toEqual({
      replayed: expect.any(Number),
    });
    expect([missing, recordedEvents(copy).length]).toEqual([expect.any(Number), 5]);
  });
});

describe('a log that fails once', () => {
  it.each([1, 2, 3, 4, 5, 6])('at its write number %d loses no change', async (failed) => {
    const { directory, store, log } = await storeWithOneTask();
    failing('writeSync', (call) => call === failed && noSpace(), failed % 2 === 0 ? 40 : 0);
    const ids = [1, 2, 3, 4, 5, 6].map((number) => `n-${number}`);
    for (const id of ids) {
      await store.save(id, () => aWrite(aTask({ id })));
      store.isWritable();
    }
    expect(recordedEvents(directory).map(({ task_id: id }) => id)).toEqual(['t-1', ...ids]);
    expect((await store.rows.listing.made({ limit: 9 })).tasks).toHaveLength(7);
    expect(await verifyFiles([log])).toMatchObject({ ok: true, events: 7 });
  });
});

describe('a full disk', () => {
  it('is detected by the database itself, and nothing is stored', async () => {
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
});

describe('a save that cannot be serialized', () => {
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

describe('a log that another program changed while the store runs', () => {
  it('stops all writing when lines were removed permanently', async () => {
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

  it('gets back the lines that are not known to be synced', async () => {
    const { directory, store, log } = await storeWithOneTask();
    const { size } = statSync(log);
    fs.truncateSync(log, 10);
    await outcomes(store);
    expect(recordedEvents(directory)[1]).toMatchObject({
      event: 'audit_recovered',
      fields: { replayed: size - 10 },
    });
    expect(await verifyFiles([log])).toMatchObject({ ok: true, events: 5 });
  });

  it('moves foreign bytes aside and logs their file', async () => {
    const { directory, store, log } = await storeWithOneTask();
    const foreign = '{"event":"never committed"}\n{"half';
    fs.appendFileSync(log, foreign);
    await outcomes(store);
    const recovered = recordedEvents(directory)[1];
    expect(recovered).toMatchObject({
      event: 'audit_recovered',
      fields: { lines: 2, bytes: foreign.length },
    });
    const { file } = Object(recovered?.['fields']) as { file: string };
    expect(readFileSync(join(directory, file), 'utf8')).toBe(foreign);
    expect(await verifyFiles([log])).toMatchObject({ ok: true, events: 5 });
  });
});
