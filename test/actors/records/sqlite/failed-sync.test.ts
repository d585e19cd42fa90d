import fs, { readFileSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished, vi } from 'vitest';
import { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import { UnrecordedError } from '../../../../src/actors/records/store/task-store.ts';
import { anEvent } from '../../../helpers/stored-tasks.ts';
import { openStore, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';
import { hearDisk } from './disk-steps.ts';
import { eventsOf, verifyLog } from './whole-log.ts';

/** A store with one event, and what it does every second. */
async function storeAndSync() {
  const directory = temporaryFolder();
  const spy = vi.spyOn(globalThis, 'setInterval');
  const store = await openStore(directory);
  const sync = spy.mock.calls[0]?.[0] as () => void;
  spy.mockRestore();
  onTestFinished(() => store.close());
  await store.record([anEvent('t-1', 1)]);
  const { path, audit } = storeFiles(directory);
  return { store, sync, path, log: audit.path };
}

function listen(onStep: Parameters<typeof hearDisk>[0]): () => void {
  const restore = hearDisk(onStep);
  onTestFinished(restore);
  return restore;
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

it('after a failed sync the lines are written and synced again before anything else', async () => {
  const { store, sync, path, log } = await storeAndSync();
  const whole = readFileSync(log, 'utf8');
  const { size } = statSync(log);
  const steps: string[] = [];
  const restore = listen(({ name }) => {
    if (name === 'fdatasync') throw new Error('EIO: i/o error, fdatasync');
    steps.push(name);
  });
  sync();
  await nextTurn();
  await nextTurn();
  expect(store.isWritable()).toBe(true);
  restore();
  const relevant = ['openSync', 'ftruncateSync', 'writeSync', 'fdatasyncSync', 'rmSync', 'COMMIT'];
  expect(steps.filter((name) => relevant.includes(name))).toEqual([
    'openSync',
    'writeSync',
    'fdatasyncSync',
    // The probe for room comes after that.
    'openSync',
    'writeSync',
    'rmSync',
    'COMMIT',
  ]);
  expect([readFileSync(log, 'utf8'), statSync(log).size]).toEqual([whole, size]);
  await store.record([anEvent('t-1', 2)]);
  const outbox = new DatabaseSync(path, { readOnly: true });
  onTestFinished(() => outbox.close());
  expect(outbox.prepare('SELECT offset FROM audit_outbox').all()).toEqual([{ offset: size }]);
});

it('while the disk cannot sync, every save is refused, and no line is lost', async () => {
  const { store, sync, log } = await storeAndSync();
  const restore = listen(({ name }) => {
    if (name.startsWith('fdatasync')) throw new Error('EIO: i/o error, fdatasync');
  });
  sync();
  await nextTurn();
  await nextTurn();
  const refused = new UnrecordedError('the task store cannot be written');
  for (const _ of [1, 2]) {
    expect(store.isWritable()).toBe(false);
    await expect(store.record([anEvent('t-1', 2)])).rejects.toEqual(refused);
  }
  restore();
  expect(store.isWritable()).toBe(true);
  await store.record([anEvent('t-1', 3)]);
  expect(eventsOf(log).map(({ seq }) => seq)).toEqual([1, 3]);
  expect(await verifyLog(log)).toMatchObject({ ok: true, events: 2 });
});

it('a failed sync marks no missing line as synced', async () => {
  const { store, sync } = await storeAndSync();
  const restore = listen(({ name }) => {
    if (name === 'writeSync') throw new Error('EIO: i/o error, write');
  });
  await store.record([anEvent('t-1', 2)]).catch(() => undefined);
  sync();
  await nextTurn();
  expect(store.unsynced).toBe(2);
  restore();
  expect(store.isWritable()).toBe(true);
});

it('a finished file gets its name after lines that may be lost were written again', async () => {
  const { path, audit } = storeFiles(temporaryFolder());
  const rotation = { maxBytes: 1, daily: false, keep: 0 };
  const store = await SqliteStore.open({ path, audit: { ...audit, rotation } });
  onTestFinished(() => store.close());
  await store.record([anEvent('t-1', 1)]);
  let failures = 0;
  let steps: string[] = [];
  const files =
    /^(?:openSync|writeSync|ftruncateSync|fdatasyncSync|renameSync|fsyncSync|chmodSync)$/;
  listen(({ name }) => {
    if (!files.test(name)) return;
    steps.push(name);
    if (name === 'fdatasyncSync' && failures === 0) {
      failures += 1;
      throw new Error('EIO: i/o error, fdatasync');
    }
  });
  await expect(store.record([anEvent('t-1', 2)])).rejects.toThrow(UnrecordedError);
  steps = [];
  expect(store.isWritable()).toBe(true);
  const [archived, begun, probed] = [
    ['openSync', 'writeSync', 'writeSync', 'fdatasyncSync', 'renameSync'],
    ['openSync', 'fsyncSync', 'chmodSync', 'openSync', 'openSync', 'fsyncSync'],
    ['openSync', 'writeSync'],
  ];
  expect(steps).toEqual([...archived!, ...begun!, ...probed!]);
  steps = [];
  await store.record([anEvent('t-1', 3)]);
  await store.record([anEvent('t-1', 4)]);
  const rotated = ['writeSync', 'fdatasyncSync', 'renameSync', ...begun!];
  expect(steps).toEqual(['writeSync', ...rotated, 'writeSync']);
  expect(eventsOf(audit.path).flatMap(({ seq }) => seq ?? [])).toEqual([1, 3, 4]);
  expect(await verifyLog(audit.path)).toMatchObject({ ok: true });
});

it('a file is not closed during its sync', async () => {
  const directory = temporaryFolder();
  const { path, audit } = storeFiles(directory);
  const spy = vi.spyOn(globalThis, 'setInterval');
  const rotation = { maxBytes: 1, daily: false, keep: 0 };
  const store = await SqliteStore.open({ path, audit: { ...audit, rotation } });
  const sync = spy.mock.calls[0]?.[0] as () => void;
  spy.mockRestore();
  await store.record([anEvent('t-1', 1)]);
  const genuine = fs.fdatasync;
  const held: (() => void)[] = [];
  const hold = vi.spyOn(fs, 'fdatasync').mockImplementation(((descriptor: number, done: any) => {
    held.push(() => genuine(descriptor, done));
  }) as never);
  syncBuiltinESMExports();
  sync();
  hold.mockRestore();
  syncBuiltinESMExports();
  await store.record([anEvent('t-1', 2)]);
  await store.record([anEvent('t-1', 3)]);
  for (const go of held) go();
  while (!(await settled(store))) await nextTurn();
  await store.close();
  expect(held).toHaveLength(1);
  expect(eventsOf(audit.path).flatMap(({ seq }) => seq ?? [])).toEqual([1, 2, 3]);
  expect(await verifyLog(audit.path)).toMatchObject({ ok: true });
});

/** A sync of a closed descriptor would have made the store refuse what follows. */
async function settled(store: { isWritable(): boolean }): Promise<boolean> {
  await new Promise((resolve) => fs.stat('/', resolve));
  return store.isWritable();
}
