import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { logFilesOf } from '../../../../src/actors/records/log/log-files.ts';
import { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { nine, storeFiles } from '../../../helpers/test-system.ts';
import { type DiskStep, hearDisk } from './disk-steps.ts';
import { eventsOf, verifyLog } from './whole-log.ts';

/** An empty folder that goes when the test ends; in memory where that can be, since it is synced so often. */
function quickFolder(): string {
  const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const folder = mkdtempSync(join(memory, 'holdpoint-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const saves = ['t-1', 't-2', 't-3'];

/** A store whose log continues in a further file with every commit but the first. */
function openRotating(directory: string, keep = 0): Promise<SqliteStore> {
  const { path, audit } = storeFiles(directory);
  const rotation = { maxBytes: 200, daily: false, keep };
  return SqliteStore.open({ path, audit: { ...audit, rotation, now: () => nine } });
}

/** Saves tasks one after the other on a disk that may fail; returns the acknowledged ones. */
async function play(directory: string): Promise<string[]> {
  const saved: string[] = [];
  let store: SqliteStore | null = null;
  try {
    store = await openRotating(directory);
    for (const id of saves) {
      if (id === 't-2') {
        // What was synced is in the file alone.
        await store.close();
        store = await openRotating(directory);
      }
      const outcome = store.save(id, () => aWrite(aTask({ id })));
      await outcome.then(
        () => saved.push(id),
        () => store?.isWritable(),
      );
    }
  } catch {
    // A store that does not open has saved nothing.
  }
  try {
    await store?.close();
  } catch {
    // What is not on disk yet is in the outbox.
  }
  return saved;
}

/** Opens a store on the remaining files and describes its content, in words that must always be the same. */
async function lookAt(directory: string, saved: readonly string[]) {
  const { path } = storeFiles(directory).audit;
  const store = await openRotating(directory);
  const known = (await store.rows.listing.made({ limit: 99 })).tasks.map(({ id }) => id);
  await store.save('last', () => aWrite(aTask({ id: 'last' })));
  await store.close();
  const written = eventsOf(path).flatMap(({ task_id: id }) => id ?? []);
  return {
    verdict: await verifyLog(path),
    lost: saved.filter((id) => !known.includes(id) || !written.includes(id)),
    unsaid: known.filter((id) => !written.includes(id)),
    unknown: written.filter((id) => id !== 'last' && !known.includes(id)),
    twice: written.filter((id, index) => written.indexOf(id) !== index),
    last: written.at(-1),
  };
}

const wellKept = {
  verdict: expect.objectContaining({ ok: true }),
  lost: [],
  unsaid: [],
  unknown: [],
  twice: [],
  last: 'last',
};

/** Takes from the current file what a power cut might: all that the store does not know to be on disk. */
function loseUnsynced(directory: string): void {
  const { path, audit } = storeFiles(directory);
  const database = new DatabaseSync(path);
  const { offset } = database.prepare('SELECT min(offset) AS offset FROM audit_outbox').get()!;
  database.close();
  if (offset === null || !existsSync(audit.path)) return;
  if (statSync(audit.path).size > Number(offset)) truncateSync(audit.path, Number(offset));
}

/** The bytes of all files of the log, in order. */
function textOf(directory: string): string {
  return logFilesOf(storeFiles(directory).audit.path)
    .map((file) => readFileSync(file, 'utf8'))
    .join('');
}

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: no luck`), { code });
}

const faults: [name: string, fail: (step: DiskStep) => void][] = [
  [
    'is full',
    () => {
      throw failure('ENOSPC');
    },
  ],
  [
    'fails in the middle of a write',
    ({ writeHalf }) => {
      writeHalf();
      throw failure('EIO');
    },
  ],
];

describe.each(faults)('a disk that %s once', (_name, fail) => {
  it('loses nothing acknowledged, at any step', async () => {
    const names = new Set<string>();
    let number = 0;
    for (let isOver = false; !isOver; ) {
      number += 1;
      isOver = true;
      const directory = quickFolder();
      const restore = hearDisk((step) => {
        if (step.number !== number) return;
        isOver = false;
        names.add(step.name);
        fail(step);
      });
      const saved = await play(directory).finally(restore);
      expect({ number, ...(await lookAt(directory, saved)) }).toEqual({ number, ...wellKept });
    }
    expect(number).toBeGreaterThan(60);
    expect([...names]).toEqual(
      expect.arrayContaining([
        'BEGIN IMMEDIATE',
        'COMMIT',
        'run',
        'openSync',
        'writeSync',
        'renameSync',
        'chmodSync',
        'fsyncSync',
        'fdatasyncSync',
      ]),
    );
  }, 60_000);
});

describe('a disk that fails permanently', () => {
  it('refuses everything from then on, and loses nothing acknowledged', async () => {
    for (const number of [10, 25, 40, 55, 70, 85]) {
      const directory = quickFolder();
      const restore = hearDisk((step) => {
        if (step.number >= number) throw failure('EIO');
      });
      const saved = await play(directory).finally(restore);
      expect({ number, ...(await lookAt(directory, saved)) }).toEqual({ number, ...wellKept });
    }
  });
});

describe('a killed process or a power cut', () => {
  it('leaves a log and a store that agree, at any step', async () => {
    const directory = quickFolder();
    const images: { number: number; folder: string; saved: string[] }[] = [];
    const folder = quickFolder();
    const saved: string[] = [];
    let visible = '';
    const take = (number: number, name: string): void => {
      const text = textOf(directory);
      // A reader that follows the log never loses a byte.
      expect(text.startsWith(visible)).toBe(true);
      visible = text;
      const image = join(folder, `${number}-${name}`);
      cpSync(directory, image, { recursive: true, filter: (path) => !path.endsWith('-shm') });
      images.push({ number, folder: image, saved: [...saved] });
    };
    const first = await openRotating(directory);
    await first.save('t-0', () => aWrite(aTask({ id: 't-0' })));
    await first.close();
    saved.push('t-0');
    const store = await openRotating(directory);
    const restore = hearDisk(({ number, name }) => {
      take(number, 'before');
      const lost = join(folder, `${number}-lost`);
      cpSync(join(folder, `${number}-before`), lost, { recursive: true });
      loseUnsynced(lost);
      images.push({ number, folder: lost, saved: [...saved] });
      if (name === 'writeSync') {
        const torn = join(folder, `${number}-torn`);
        cpSync(join(folder, `${number}-before`), torn, { recursive: true });
        appendFileSync(storeFiles(torn).audit.path, '{"event":"tool_exec","pre');
        images.push({ number, folder: torn, saved: [...saved] });
      }
    });
    onTestFinished(restore);
    for (const id of saves) {
      await store.save(id, () => aWrite(aTask({ id })));
      saved.push(id);
    }
    restore();
    await store.close();
    expect(images.length).toBeGreaterThan(40);
    for (const { number, folder: image, saved: until } of images) {
      expect({ number, ...(await lookAt(image, until)) }).toEqual({ number, ...wellKept });
    }
  }, 60_000);
});

describe('deleting old files on a failing disk', () => {
  it('leaves a log that verifies from the oldest remaining file, at any step', async () => {
    let number = 0;
    for (let isOver = false; !isOver; ) {
      number += 1;
      isOver = true;
      const directory = quickFolder();
      const { path } = storeFiles(directory).audit;
      const first = await openRotating(directory, 1);
      for (const id of saves) await first.save(id, () => aWrite(aTask({ id })));
      const restore = hearDisk((step) => {
        if (step.number !== number) return;
        isOver = false;
        throw failure('EIO');
      });
      onTestFinished(restore);
      await first.save('t-5', () => aWrite(aTask({ id: 't-5' }))).catch(() => undefined);
      restore();
      await first.close();
      const again = await openRotating(directory, 1);
      await again.save('last', () => aWrite(aTask({ id: 'last' })));
      await again.close();
      expect({ number, ...(await verifyLog(path)) }).toMatchObject({ number, ok: true });
      expect(eventsOf(path).at(-1)?.['event']).toBe('audit_rotated');
    }
    expect(number).toBeGreaterThan(15);
  });
});
