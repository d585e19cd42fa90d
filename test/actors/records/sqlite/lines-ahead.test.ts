import { appendFileSync, chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { finishedFilesOf } from '../../../../src/actors/records/log/log-files.ts';
import { AuditRows } from '../../../../src/actors/records/sqlite/audit-head.ts';
import { linesAhead } from '../../../../src/actors/records/sqlite/lines-ahead.ts';
import { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import type { AuditHead } from '../../../../src/actors/records/store/audit-head.ts';
import { StoreError } from '../../../../src/actors/records/store/store-error.ts';
import { copyFiles, nine, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';
import { hearDisk } from './disk-steps.ts';
import { eventsOf } from './whole-log.ts';

const day = 86_400_000;

/** The head of a log after some commits, the first of them alone in its file. */
interface Written {
  directory: string;
  log: string;
  heads: AuditHead[];
}

/** Has a store write an event each day, so many to a file. */
async function written(days: number, maxBytes = 500): Promise<Written> {
  const directory = temporaryFolder();
  const { path, audit } = storeFiles(directory);
  let now = nine;
  const rotation = { maxBytes, daily: false, keep: 0 };
  const store = await SqliteStore.open({ path, audit: { ...audit, rotation, now: () => now } });
  const heads: AuditHead[] = [];
  for (let count = 0; count < days; count += 1) {
    now = nine + count * day;
    const ts = new Date(now).toISOString();
    await store.record([{ event: 'said', ts, seq: count }]);
    heads.push(headIn(directory));
  }
  await store.close();
  return { directory, log: audit.path, heads };
}

/** Where the store of a folder knows its log to stand. */
function headIn(directory: string): AuditHead {
  const database = new DatabaseSync(storeFiles(copyFiles(directory)).path);
  const head = new AuditRows(database).read();
  database.close();
  if (head === null) throw new Error('the store knows of no log');
  return head;
}

const ahead = (known: AuditHead | undefined, path: string) =>
  linesAhead(known as AuditHead, { path, chain: true, keys: null });

/** Changes a file of a log, finished or not. */
function change(file: string, how: (text: string) => string): void {
  chmodSync(file, 0o600);
  writeFileSync(file, how(readFileSync(file, 'utf8')));
}

describe('the lines of a log that its store does not have', () => {
  it('lead from any commit to the head of the store, at any disk step', async () => {
    const { directory } = await written(1, 200);
    const { path, audit } = storeFiles(directory);
    let now = nine;
    const rotation = { maxBytes: 200, daily: false, keep: 0 };
    const store = await SqliteStore.open({ path, audit: { ...audit, rotation, now: () => now } });
    const images: { at: string; head: AuditHead; isWritten: boolean }[] = [];
    const restore = hearDisk(() => {
      const at = copyFiles(directory);
      const head = headIn(at);
      const isWritten = eventsOf(storeFiles(at).audit.path).length === head.events;
      images.push({ at, head, isWritten });
    });
    onTestFinished(restore);
    for (const seq of [1, 2, 3, 4]) {
      now = nine + seq * day;
      await store.record([{ event: 'said', ts: new Date(now).toISOString(), seq }]);
    }
    restore();
    await store.close();
    const heads = [...new Map(images.map(({ head }) => [JSON.stringify(head), head])).values()];
    expect(heads.filter(({ finishing }) => finishing !== null).length).toBeGreaterThan(1);
    const outcomes = new Set<boolean>();
    // Right after a commit the file has yet to follow.
    for (const { at, head } of images.filter(({ isWritten }) => isWritten)) {
      for (const known of heads.filter(({ events }) => events <= head.events)) {
        const found = await ahead(known, storeFiles(at).audit.path);
        // A file that is over may be archived once more, which does no harm.
        const over = heads.find((one) => one.events === head.events && one.finishing !== null);
        const finishing = expect.toBeOneOf([null, over?.finishing]);
        const isAhead = known.events < head.events;
        expect(found?.head).toEqual(
          isAhead ? { ...head, ...(head.bytes === 0 && { finishing }) } : undefined,
        );
        outcomes.add(isAhead);
      }
    }
    expect(outcomes.size).toBe(2);
  }, 60_000);

  it('name their files, and none with only torn lines', async () => {
    const { log, heads } = await written(8);
    const finished = finishedFilesOf(log).map(({ path }) => path);
    rmSync(log);
    writeFileSync(log, '{"event":"tool_');
    expect(await ahead(heads[0], log)).toMatchObject({ files: finished });
  });

  it('are returned one after the other', async () => {
    const { log, heads } = await written(6);
    const told: unknown[] = [];
    const onLine = (line: object) => told.push(line);
    await linesAhead(heads[2]!, { path: log, chain: true, keys: null, onLine });
    const seqs = told.flatMap((line) => (line as { seq?: number }).seq ?? []);
    expect(seqs).toEqual([3, 4, 5]);
  });
});

describe('a log that does not continue its store', () => {
  const files = async () => {
    const { directory, log, heads } = await written(8);
    const finished = finishedFilesOf(log).map(({ path }) => path);
    return { directory, log, known: heads[0], finished };
  };
  const refused = (file: string | undefined) =>
    new StoreError(
      `the task store is older than its audit log, and ${file} does not continue from its last line; restore the log and the store that belong together, or move both away`,
    );

  it('is refused where a line before others was changed, after any number of lines', async () => {
    const { log, known, finished } = await files();
    change(finished[1]!, (text) => text.replace('"event":"said"', '"event":"sold"'));
    await expect(ahead(known, log)).rejects.toThrow(refused(finished[1]));
  });

  it('is refused where a file before others ends in an unfinished line', async () => {
    const { log, known, finished } = await files();
    chmodSync(finished[1]!, 0o600);
    appendFileSync(finished[1]!, '{"event":"sa');
    await expect(ahead(known, log)).rejects.toThrow(refused(finished[1]));
  });

  it('is refused where its last file is finished and does not follow', async () => {
    const { log, known, finished } = await files();
    const [own, next, ...others] = finished;
    for (const file of [...others, log]) rmSync(file, { force: true });
    change(own!, (text) => `${text.split('\n')[0]}\n`);
    await expect(ahead(known, log)).rejects.toThrow(StoreError);
    rmSync(next!);
    cpSync(own!, `${own}.copy`);
    change(own!, (text) => `${text}{"event":"said"}\n`);
    await expect(ahead(known, log)).rejects.toThrow(refused(own));
  });
});
