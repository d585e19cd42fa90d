import { chmodSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifyFiles } from '../../../../src/actors/records/log/audit.ts';
import { logFilesOf } from '../../../../src/actors/records/log/log-files.ts';
import type { Rotation } from '../../../../src/actors/records/sqlite/audit-file.ts';
import { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import { anEvent } from '../../../helpers/stored-tasks.ts';
import { copyFiles, nine, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';
import { hearDisk } from './disk-steps.ts';
import { eventsIn, eventsOf, verifyLog } from './whole-log.ts';

/** How a test wants its store. */
interface Wish extends Partial<Rotation> {
  chain?: boolean;
  now?: () => number;
}

async function openRotating(
  directory: string,
  { chain = true, now = () => nine, ...rotation }: Wish = {},
): Promise<SqliteStore> {
  const { path, audit } = storeFiles(directory, chain);
  const store = await SqliteStore.open({
    path,
    audit: { ...audit, now, rotation: { maxBytes: 0, daily: false, keep: 0, ...rotation } },
  });
  onTestFinished(async () => {
    try {
      await store.close();
    } catch {
      // The test has closed it.
    }
  });
  return store;
}

/** Records events one commit after the other. */
async function recordEach(store: SqliteStore, count: number, from = 1): Promise<void> {
  for (let seq = from; seq < from + count; seq += 1) await store.record([anEvent('t-1', seq)]);
}

const namesOf = (path: string) => logFilesOf(path).map((file) => basename(file));

describe('a log that reaches its maximum size', () => {
  it('continues in a further file, which states the head before it', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory).audit;
    const store = await openRotating(directory, { maxBytes: 300 });
    await recordEach(store, 4);
    expect(namesOf(path)).toEqual([
      'audit-000000000001.ndjson',
      'audit-000000000004.ndjson',
      'audit.ndjson',
    ]);
    const [first, second, current] = logFilesOf(path).map((file) => eventsIn(file));
    const ts = '2026-07-01T09:00:00.000Z';
    expect(first).toEqual([
      expect.objectContaining(anEvent('t-1', 1)),
      expect.objectContaining(anEvent('t-1', 2)),
      {
        event: 'audit_rotated',
        fields: { file: 'audit-000000000001.ndjson', next: 4 },
        prev_hash: expect.any(String),
        ts,
      },
    ]);
    const [standing] = second!;
    expect(standing).toEqual({
      event: 'checkpoint',
      fields: { count: 3, head: standing?.['prev_hash'] },
      prev_hash: expect.any(String),
      ts,
    });
    expect([second, current].map((events) => events?.map(({ event }) => event))).toEqual([
      ['checkpoint', 'tool_exec', 'audit_rotated'],
      ['checkpoint', 'tool_exec'],
    ]);
    expect(await verifyFiles(logFilesOf(path))).toMatchObject({
      ok: true,
      events: eventsOf(path).length,
    });
  });

  it('makes the finished files read-only', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory).audit;
    const store = await openRotating(directory, { maxBytes: 300 });
    await recordEach(store, 4);
    expect(logFilesOf(path).map((file) => statSync(file).mode & 0o777)).toEqual([
      0o400, 0o400, 0o600,
    ]);
  });

  it('stays one file without a limit', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory).audit;
    const store = await openRotating(directory);
    await recordEach(store, 5);
    expect(namesOf(path)).toEqual(['audit.ndjson']);
  });

  it('writes nothing into a further file before the next event', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory).audit;
    const store = await openRotating(directory, { maxBytes: 1 });
    await store.record([anEvent('t-1', 1)]);
    for (const _ of [1, 2, 3]) {
      store.checkpoint();
      await store.flush();
    }
    expect(namesOf(path)).toEqual(['audit-000000000001.ndjson', 'audit.ndjson']);
    expect(readFileSync(path, 'utf8')).toBe('');
    expect(await verifyLog(path)).toMatchObject({ ok: true, events: 2 });
  });

  it('is numbered without a chain too', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory).audit;
    for (const from of [1, 3]) {
      const store = await openRotating(directory, { maxBytes: 1, chain: false });
      await recordEach(store, 2, from);
      await store.close();
    }
    expect(namesOf(path)).toHaveLength(5);
    expect(eventsOf(path).flatMap(({ seq }) => seq ?? [])).toEqual([1, 2, 3, 4]);
  });

  it('refuses to write when another file has the name for the finished one', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory).audit;
    const store = await openRotating(directory, { maxBytes: 1 });
    await store.record([anEvent('t-1', 1)]);
    const inTheWay = join(directory, 'audit-000000000001.ndjson');
    writeFileSync(inTheWay, 'mine\n');
    const refused = await store.record([anEvent('t-1', 2)]).catch((error: unknown) => error);
    expect((refused as Error).cause).toMatchObject({
      code: 'store_unusable',
      message: `${inTheWay} is in the way of the audit log, whose file is to get that name; move it away`,
    });
    expect([store.isWritable(), readFileSync(inTheWay, 'utf8')]).toEqual([false, 'mine\n']);
    rmSync(inTheWay);
    expect(store.isWritable()).toBe(true);
    await store.record([anEvent('t-1', 3)]);
    expect(await verifyLog(path)).toMatchObject({ ok: true });
    expect(eventsOf(path).flatMap(({ seq }) => seq ?? [])).toEqual([1, 3]);
  });
});

describe('a log that is rotated every day', () => {
  it('has the events of each UTC day in a separate file', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory).audit;
    let now = nine;
    const store = await openRotating(directory, { daily: true, now: () => now });
    for (const hours of [0, 14, 15, 16, 72]) {
      now = nine + hours * 3_600_000;
      await store.record([anEvent('t-1', hours)]);
    }
    const seqs = logFilesOf(path).map((file) => eventsIn(file).flatMap(({ seq }) => seq ?? []));
    expect(seqs).toEqual([[0, 14], [15, 16], [72]]);
    expect(await verifyLog(path)).toMatchObject({ ok: true });
  });

  it('is not rotated by a clock that goes back', async () => {
    const directory = temporaryFolder();
    let now = nine;
    const store = await openRotating(directory, { daily: true, now: () => now });
    await store.record([anEvent('t-1', 1)]);
    now -= 30 * 3_600_000;
    await store.record([anEvent('t-1', 2)]);
    expect(namesOf(storeFiles(directory).audit.path)).toEqual(['audit.ndjson']);
  });
});

describe('a log with a limit of files', () => {
  it('records which files it deleted, and verifies from the oldest remaining one', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory).audit;
    const store = await openRotating(directory, { maxBytes: 1, keep: 2 });
    await recordEach(store, 5);
    // Two lines, then checkpoint, event and rotation; later ones name a deleted file besides.
    expect(namesOf(path)).toEqual([
      'audit-000000000006.ndjson',
      'audit-000000000009.ndjson',
      'audit.ndjson',
    ]);
    expect(eventsIn(path).map(({ event, fields }) => [event, fields])).toEqual([
      ['checkpoint', { count: 12, head: expect.any(String) }],
      ['audit_pruned', { before: 6, files: ['audit-000000000003.ndjson'] }],
      ['tool_exec', undefined],
    ]);
    expect(await verifyLog(path)).toMatchObject({ ok: true });
  });

  it('deletes the files that a killed process had recorded as deleted', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory).audit;
    const store = await openRotating(directory, { maxBytes: 1, keep: 1 });
    await recordEach(store, 3);
    const left = logFilesOf(path)[0]!;
    await store.close();
    const old = join(directory, 'audit-000000000001.ndjson');
    writeFileSync(old, 'as it was\n');
    const again = await openRotating(directory, { maxBytes: 1, keep: 1 });
    expect(logFilesOf(path)[0]).toBe(left);
    await again.close();
  });

  it('records no file twice that could not be deleted at first', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory).audit;
    const store = await openRotating(directory, { maxBytes: 1, keep: 1 });
    await recordEach(store, 2);
    const restore = hearDisk(({ name }) => {
      if (name === 'rmSync') throw new Error('EBUSY: resource busy, rm');
    });
    onTestFinished(restore);
    await recordEach(store, 1, 3);
    restore();
    expect(namesOf(path)[0]).toBe('audit-000000000001.ndjson');
    await recordEach(store, 1, 4);
    const pruned = eventsIn(path).filter(({ event }) => event === 'audit_pruned');
    expect(pruned.map(({ fields }) => fields)).toEqual([
      { before: 6, files: ['audit-000000000003.ndjson'] },
    ]);
    expect(namesOf(path)).toEqual(['audit-000000000006.ndjson', 'audit.ndjson']);
  });

  it('keeps all files without a limit', async () => {
    const directory = temporaryFolder();
    const store = await openRotating(directory, { maxBytes: 1 });
    await recordEach(store, 5);
    expect(namesOf(storeFiles(directory).audit.path)).toHaveLength(5);
  });
});

describe('a lost store', () => {
  it.each([
    ['all its files', 0],
    ['its oldest file deleted', 1],
    ['its two oldest files deleted', 2],
  ])('adopts a log in several files, with %s', async (_name, gone) => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory).audit;
    const store = await openRotating(directory, { maxBytes: 1 });
    await recordEach(store, 4);
    await store.close();
    for (const file of logFilesOf(path).slice(0, gone)) rmSync(file);
    const lines = eventsOf(path).length;
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(`${join(directory, 'tasks.db')}${suffix}`, { force: true });
    const again = await openRotating(directory, { maxBytes: 1 });
    await recordEach(again, 2, 5);
    await again.close();
    expect(eventsOf(path).length).toBeGreaterThan(lines + 2);
    expect(await verifyLog(path)).toMatchObject({ ok: true, events: eventsOf(path).length });
    expect(
      eventsOf(path).findLast(({ event }) => event === 'checkpoint')?.['fields'],
    ).toMatchObject({
      // Two lines, then three for each further event, among them the one that the store was lost.
      count: 2 + 5 * 3,
    });
  });

  it('does not adopt a log with a missing file between others', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory).audit;
    const store = await openRotating(directory, { maxBytes: 1 });
    await recordEach(store, 4);
    await store.close();
    rmSync(logFilesOf(path)[1]!);
    rmSync(join(directory, 'tasks.db'));
    await expect(openRotating(directory)).rejects.toThrow(
      /audit-000000000006\.ndjson:1: the audit log does not verify \(prev_hash does not match the previous line\)/,
    );
  });

  it('does not adopt a log whose oldest file does not state the head before it', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory).audit;
    const store = await openRotating(directory, { maxBytes: 1 });
    await recordEach(store, 3);
    await store.close();
    const [first, second] = logFilesOf(path) as [string, string];
    rmSync(first);
    rmSync(join(directory, 'tasks.db'));
    chmodSync(second, 0o600);
    const text = readFileSync(second, 'utf8');
    writeFileSync(second, text.slice(text.indexOf('\n') + 1));
    await expect(openRotating(directory)).rejects.toThrow(
      `${second}:1: the audit log does not verify (the file does not begin with a checkpoint of 2 lines); move it away to start a new one, or restore it`,
    );
  });
});

describe('two stores on one log', () => {
  it('detect a rotation by the other', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory).audit;
    const one = await openRotating(directory, { maxBytes: 200 });
    const other = await openRotating(directory, { maxBytes: 200 });
    for (let seq = 1; seq <= 12; seq += 1) {
      await (seq % 3 === 0 ? one : other).record([anEvent('t-1', seq)]);
    }
    await one.close();
    await other.close();
    expect(eventsOf(path).flatMap(({ seq }) => seq ?? [])).toEqual(
      Array.from({ length: 12 }, (_, index) => index + 1),
    );
    expect(await verifyLog(path)).toMatchObject({ ok: true });
  });
});

describe('a store whose file another one rotated', () => {
  it('does not rotate the next file for the size of the last one', async () => {
    const directory = temporaryFolder();
    const one = await openRotating(directory, { maxBytes: 200 });
    const other = await openRotating(directory, { maxBytes: 200 });
    await one.record([anEvent('t-1', 1), anEvent('t-1', 2)]);
    await other.record([anEvent('t-1', 3)]);
    await other.flush();
    await one.flush();
    expect(namesOf(storeFiles(directory).audit.path)).toEqual([
      'audit-000000000001.ndjson',
      'audit.ndjson',
    ]);
  });

  it('leaves the lines of the next file in the outbox when it closes', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory).audit;
    const one = await openRotating(directory, { maxBytes: 200 });
    const other = await openRotating(directory, { maxBytes: 200 });
    await one.record([anEvent('t-1', 1), anEvent('t-1', 2)]);
    await other.record([anEvent('t-1', 3)]);
    await other.flush();
    await other.record([anEvent('t-1', 4)]);
    await one.close();
    const copy = copyFiles(directory);
    const log = storeFiles(copy).audit.path;
    truncateSync(log, 0);
    await (await openRotating(copy)).close();
    expect(readFileSync(log, 'utf8')).toBe(readFileSync(path, 'utf8'));
    expect(await verifyLog(log)).toMatchObject({ ok: true });
  });
});
