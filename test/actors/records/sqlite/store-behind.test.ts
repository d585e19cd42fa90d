import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chainLine } from '../../../../src/actors/records/log/audit.ts';
import { logFilesOf } from '../../../../src/actors/records/log/log-files.ts';
import type { AuditFileOptions } from '../../../../src/actors/records/sqlite/audit-file.ts';
import { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import { StoreBehindError } from '../../../../src/actors/records/sqlite/store-behind-error.ts';
import { StoreError } from '../../../../src/actors/records/store/store-error.ts';
import type { Task } from '../../../../src/machines/domain/task.ts';
import { isOverLimit } from '../../../helpers/measured-calls.ts';
import { aParkedTask, aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { copyFiles, nine, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';
import { keyOf } from '../log/log-of.ts';
import { hearDisk } from './disk-steps.ts';
import { eventsOf, verifyLog } from './whole-log.ts';

const outcome = 'interrupted: the outcome is only in the audit log';
const ts = '2026-07-01T09:00:00.000Z';

async function open(
  directory: string,
  wish: Partial<AuditFileOptions> & { maxBytes?: number } = {},
): Promise<SqliteStore> {
  const { maxBytes = 0, ...options } = wish;
  const { path, audit } = storeFiles(directory);
  const rotation = { maxBytes, daily: false, keep: 0 };
  const store = await SqliteStore.open({
    path,
    audit: { ...audit, now: () => nine, rotation, ...options },
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

/** An event of the daemon, which is about no task. */
const said = (seq: number) => ({ event: 'said', ts, seq });

/** Gives a folder the store of another one. */
function giveStore(from: string, to: string): void {
  for (const name of ['tasks.db', 'tasks.db-wal', 'tasks.db-shm']) {
    rmSync(join(to, name), { force: true });
    if (name !== 'tasks.db-shm' && existsSync(join(from, name))) {
      cpSync(join(from, name), join(to, name));
    }
  }
}

/** Two events that the store knows, and three that it does not. */
async function older(wish: Parameters<typeof open>[1] = {}) {
  const directory = temporaryFolder();
  const store = await open(directory, wish);
  await store.record([said(1)]);
  await store.record([said(2)]);
  const copy = copyFiles(directory);
  for (const seq of [3, 4, 5]) await store.record([said(seq)]);
  await store.close();
  giveStore(copy, directory);
  return { directory, log: storeFiles(directory).audit.path };
}

const tornIn = (directory: string): string[] =>
  readdirSync(directory).filter((name) => name.includes('.torn-'));

describe('lines of a commit that the store does not have', () => {
  it('are counted with their files, and not changed', async () => {
    const { directory, log } = await older();
    const before = readFileSync(log);
    const refused = await open(directory).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StoreBehindError);
    expect(refused).toMatchObject({
      code: 'store_unusable',
      lead: { events: 3, files: [log] },
    });
    expect([readFileSync(log), tornIn(directory)]).toEqual([before, []]);
  });

  it('are adopted on demand, without torn ones after them', async () => {
    const { directory, log } = await older();
    const whole = readFileSync(log, 'utf8');
    appendFileSync(log, '{"event":"tool_');
    const store = await open(directory, { keepLog: true });
    expect(store.opening.behind).toEqual({ events: 3, tasks: 0 });
    expect(store.recovery.torn).toMatchObject({ lines: 1, bytes: 15 });
    // Calls of the lines may count for limits, which the store does not know.
    expect(await isOverLimit(store)).toBe(true);
    await store.record([said(6)]);
    await store.close();
    expect(readFileSync(log, 'utf8').startsWith(whole)).toBe(true);
    expect(eventsOf(log).slice(5)).toMatchObject([
      { event: 'audit_recovered', fields: { lines: 1, bytes: 15 } },
      { event: 'store_behind_log', fields: { events: 3, tasks: 0 } },
      said(6),
    ]);
    expect(await verifyLog(log)).toMatchObject({ ok: true, events: 8 });
    expect((await open(directory)).opening).toMatchObject({ behind: null, lost: null });
  });

  it('are none where they are unsigned, on a signed log', async () => {
    const { signer, publicKey } = keyOf('v1', Buffer.alloc(32, 1));
    const signed = { signer, keys: { keys: [publicKey] } };
    const directory = temporaryFolder();
    const first = await open(directory, signed);
    await first.record([said(1)]);
    await first.close();
    const log = storeFiles(directory).audit.path;
    const [line = ''] = readFileSync(log, 'utf8').trimEnd().split('\n');
    const stranger = keyOf('v1', Buffer.alloc(32, 2)).signer;
    const { hash } = await import('node:crypto');
    for (const forger of [null, stranger]) {
      const last = readFileSync(log, 'utf8').trimEnd().split('\n').at(-1) ?? '';
      const forged = chainLine(said(2), hash('sha256', last, 'hex'), forger);
      appendFileSync(log, `${forged.line}\n`);
      const store = await open(directory, signed);
      expect(store.recovery.torn).toMatchObject({ lines: 1, bytes: forged.line.length + 1 });
      await store.close();
    }
    expect(readFileSync(log, 'utf8').startsWith(`${line}\n`)).toBe(true);
    expect(eventsOf(log).map(({ event }) => event)).toEqual([
      'said',
      'audit_recovered',
      'audit_recovered',
    ]);
  });

  it('are adopted over all files of a log, and continue at the end of the last one', async () => {
    const { directory, log } = await older({ maxBytes: 200 });
    const files = logFilesOf(log);
    expect(files.length).toBeGreaterThan(2);
    const lines = eventsOf(log);
    const refused = await open(directory).catch((error: unknown) => error);
    const begun = files.filter((file) => statSync(file).size > 0);
    expect((refused as StoreBehindError).lead.files).toEqual(begun);
    const store = await open(directory, { keepLog: true, maxBytes: 200 });
    for (const seq of [6, 7, 8]) await store.record([said(seq)]);
    await store.close();
    expect(eventsOf(log).slice(0, lines.length)).toEqual(lines);
    expect(eventsOf(log).flatMap(({ seq }) => seq ?? [])).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await verifyLog(log)).toMatchObject({ ok: true, events: eventsOf(log).length });
  });

  it('may have lost their first files by age, and then end all unfinished work of the store', async () => {
    const directory = temporaryFolder();
    const first = await open(directory, { maxBytes: 200 });
    await first.save('waits', () => aWrite(aParkedTask('waits', nine + 60_000)));
    const copy = copyFiles(directory);
    for (const seq of [3, 4, 5, 6]) await first.record([said(seq)]);
    await first.close();
    giveStore(copy, directory);
    const log = storeFiles(directory).audit.path;
    for (const file of logFilesOf(log).slice(0, 2)) rmSync(file);
    await expect(open(directory)).rejects.toThrow(StoreBehindError);
    const store = await open(directory, { keepLog: true, maxBytes: 200 });
    expect(await store.rows.find('waits')).toMatchObject({ state: 'failed', text: outcome });
    await store.close();
    expect(await verifyLog(log)).toMatchObject({ ok: true });
  });

  it('are moved aside where another program appends them while the store runs', async () => {
    const directory = temporaryFolder();
    const store = await open(directory);
    await store.record([said(1)]);
    const log = storeFiles(directory).audit.path;
    const { hash } = await import('node:crypto');
    const last = hash('sha256', readFileSync(log, 'utf8').trimEnd(), 'hex');
    const { line } = chainLine(said(2), last);
    appendFileSync(log, `${line}\n`);
    await store.record([said(3)]);
    expect(eventsOf(log).map(({ event, seq }) => seq ?? event)).toEqual([1, 'audit_recovered', 3]);
    const [aside = ''] = tornIn(directory);
    expect(readFileSync(join(directory, aside), 'utf8')).toBe(`${line}\n`);
  });
});

describe('a log other than that of the store', () => {
  it('is refused when its last line differs', async () => {
    const directory = temporaryFolder();
    const store = await open(directory);
    await store.record([said(1)]);
    await store.record([said(2)]);
    await store.close();
    const log = storeFiles(directory).audit.path;
    writeFileSync(log, readFileSync(log, 'utf8').replace('"seq":2', '"seq":3'));
    await expect(open(directory)).rejects.toThrow(
      `the last line of ${log} is not the one that the task store knows; restore the log and the store that belong together, or move both away`,
    );
  });

  it('is refused when a finished file after it does not follow', async () => {
    const directory = temporaryFolder();
    const store = await open(directory);
    await store.record([said(1)]);
    await store.close();
    const later = join(directory, 'audit-000000000007.ndjson');
    writeFileSync(later, `${JSON.stringify(said(7))}\n`);
    const opening = open(directory, { keepLog: true });
    await expect(opening).rejects.toThrow(StoreError);
    expect(statSync(later).size).toBeGreaterThan(0);
  });
});

describe('tasks of a store that is older than its log', () => {
  const start = { event: 'session_start', ts };
  const exec = (phase: string) => ({
    event: 'tool_exec',
    ts,
    fields: { tool: 'pay', phase, args_size: 3 },
  });
  const decided = { event: 'task_deferred_decision', ts, fields: { decision: 'approve' } };
  const named = (id: string, ...events: object[]) =>
    events.map((event, index) => ({ ...(event as typeof start), task_id: id, seq: index + 2 }));

  /** Saves tasks, has lines written that the store then does not know, and opens it with the log kept. */
  async function kept(tasks: Task[], lines: ReturnType<typeof named>) {
    const directory = temporaryFolder();
    const store = await open(directory);
    for (const task of tasks) await store.save(task.id, () => aWrite(task));
    const copy = copyFiles(directory);
    await store.record(lines);
    await store.close();
    giveStore(copy, directory);
    const before = eventsOf(storeFiles(directory).audit.path).length;
    const again = await open(directory, { keepLog: true, entity: { entity_id: 'till' } });
    const said = eventsOf(storeFiles(directory).audit.path).slice(before);
    return {
      behind: again.opening.behind,
      states: (await again.rows.listing.made({ limit: 9 })).tasks.map(({ id, state, text }) => [
        id,
        state,
        text,
      ]),
      said: said.map(({ event, task_id: id, seq, fields }) => [event, id, seq, fields]),
      rows: again.rows,
    };
  }

  it('are not changed when no line names them', async () => {
    const parked = aParkedTask('waits', nine + 60_000);
    const { states, behind } = await kept([parked], named('t-2', exec('end')));
    expect(behind).toEqual({ events: 1, tasks: 1 });
    expect(states).toEqual([
      ['t-2', 'failed', outcome],
      ['waits', 'deferred', null],
    ]);
  });

  it('are ended after a decision, with their call and their run', async () => {
    const parked = aParkedTask('t-1', nine + 60_000);
    const { states, said, rows } = await kept([parked], named('t-1', decided, exec('start')));
    expect(states).toEqual([['t-1', 'failed', outcome]]);
    expect(said).toEqual([
      ['store_behind_log', undefined, undefined, { events: 2, tasks: 1 }],
      [
        'tool_exec',
        't-1',
        4,
        {
          tool: 'pay',
          phase: 'end',
          args_size: 3,
          result_size: 0,
          duration_ms: 0,
          outcome: 'unknown',
          error: outcome,
        },
      ],
      ['session_end', 't-1', 5, { state: 'failed' }],
    ]);
    expect(await rows.read('t-1')).toMatchObject({
      snapshot: null,
      auditSeq: 5,
      startedCall: null,
    });
    expect([await rows.working(), await rows.parked(), await rows.findByDeferral('t-1-d')]).toEqual(
      [[], [], undefined],
    );
  });

  it('are ended without a further line where the log has their end', async () => {
    const parked = aParkedTask('t-1', nine + 60_000);
    const end = { event: 'session_end', ts, fields: { state: 'completed' } };
    const run = [decided, exec('start'), exec('end'), end];
    const { states, said } = await kept([parked], named('t-1', ...run));
    expect(states).toEqual([['t-1', 'failed', outcome]]);
    expect(said.map(([event]) => event)).toEqual(['store_behind_log']);
  });

  it('are not created where the store has none and the log has their end', async () => {
    const end = { event: 'session_end', ts, fields: { state: 'completed' } };
    const denied = { event: 'task_admission_denied', ts, task_id: 't-3', seq: undefined as never };
    const { states, behind } = await kept(
      [aTask({ id: 't-1', state: 'completed' })],
      [...named('t-2', start, end), denied],
    );
    expect([states, behind]).toEqual([[['t-1', 'completed', null]], { events: 3, tasks: 0 }]);
  });

  it('are ended where a further run had begun', async () => {
    const { states } = await kept(
      [aTask({ id: 't-1', state: 'completed' })],
      named('t-1', start, exec('start')),
    );
    expect(states).toEqual([['t-1', 'failed', outcome]]);
  });
});

/** An empty folder in memory, where there is room for one; it goes when the test ends. */
function quickFolder(): string {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'holdpoint-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('an older store with a log from any later disk step', () => {
  it('adopts it on demand, keeps every acknowledged line, and finishes further files', async () => {
    const folder = quickFolder();
    const directory = join(folder, 'live');
    const first = await open(directory, { maxBytes: 200 });
    await first.record([said(0)]);
    const older = join(folder, 'older');
    cpSync(directory, older, { recursive: true });
    const images: { at: string; told: number }[] = [];
    let told = 1;
    const restore = hearDisk(({ number }) => {
      const at = join(folder, `${number}`);
      cpSync(directory, at, { recursive: true });
      images.push({ at, told });
    });
    onTestFinished(restore);
    for (const seq of [1, 2, 3]) {
      await first.record([said(seq)]);
      told = eventsOf(storeFiles(directory).audit.path).length;
    }
    restore();
    await first.close();
    expect(images.length).toBeGreaterThan(30);
    for (const { at, told: count } of images) {
      giveStore(older, at);
      const { path } = storeFiles(at).audit;
      const lines = eventsOfWhole(path).slice(0, count);
      const store = await open(at, { maxBytes: 200, keepLog: true });
      const next = [said(6), said(7)];
      for (const event of next) await store.record([event]);
      await store.close();
      expect(eventsOfWhole(path).slice(0, lines.length)).toEqual(lines);
      const spoken = eventsOf(path).filter(({ event }) => event === 'said');
      expect(spoken.slice(-2)).toMatchObject(next);
      expect(await verifyLog(path)).toMatchObject({ ok: true });
    }
  }, 120_000);
});

describe('a store from any disk step with a log from any later one', () => {
  it('never cuts off an acknowledged line, and never adopts the log silently', async () => {
    const folder = quickFolder();
    const directory = join(folder, 'live');
    cpSync(temporaryFolder(), directory, { recursive: true });
    const store = await open(directory, { maxBytes: 200 });
    await store.record([said(0)]);
    const images: { at: string; committed: number; told: number }[] = [];
    let told = 0;
    const restore = hearDisk(({ number }) => {
      const at = join(folder, `${number}`);
      cpSync(directory, at, { recursive: true, filter: (path) => !path.endsWith('-shm') });
      images.push({ at, committed: committedIn(at), told });
    });
    onTestFinished(restore);
    for (const seq of [1, 2, 3]) {
      await store.record([said(seq)]);
      told = eventsOf(storeFiles(directory).audit.path).length;
    }
    restore();
    await store.close();
    const outcomes = new Set<string>();
    for (const [later, log] of images.entries()) {
      for (const from of images.slice(0, later + 1).filter((_, index) => index % 3 === 0)) {
        const both = join(folder, 'both');
        rmSync(both, { recursive: true, force: true });
        cpSync(log.at, both, { recursive: true });
        giveStore(from.at, both);
        const { path } = storeFiles(both).audit;
        const lines = eventsOfWhole(path).slice(0, log.told);
        const opened = await open(both, { maxBytes: 200 }).catch((error: unknown) => error);
        const isRefused = opened instanceof StoreBehindError;
        if (opened instanceof SqliteStore) await opened.close();
        else expect(opened).toBeInstanceOf(StoreBehindError);
        // A commit that was not acknowledged may count as one that never was.
        const isFree = from.committed >= log.told && from.committed < log.committed;
        const isOlder = isFree ? isRefused : from.committed < log.committed;
        expect({ from: from.at, log: log.at, isRefused }).toEqual({
          from: from.at,
          log: log.at,
          isRefused: isOlder,
        });
        outcomes.add(isRefused ? 'refused' : 'opened');
        expect(eventsOfWhole(path).slice(0, lines.length)).toEqual(lines);
      }
    }
    expect([...outcomes].toSorted()).toEqual(['opened', 'refused']);
  }, 120_000);
});

/** How many lines the store of a folder knows. */
function committedIn(directory: string): number {
  const copy = copyFiles(directory);
  const database = new DatabaseSync(storeFiles(copy).path);
  const row = database.prepare('SELECT events FROM audit_head').get();
  database.close();
  return Number(row?.['events'] ?? 0);
}

/** The whole lines of a log unchanged, with anything after them. */
function eventsOfWhole(path: string): string[] {
  return logFilesOf(path).flatMap((file) => readFileSync(file, 'utf8').split('\n').slice(0, -1));
}
