import { appendFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AuditLogError } from '../../../../src/actors/records/log/audit.ts';
import { fileAt, LogFileReader } from '../../../../src/actors/records/log/log-file-reader.ts';
import { openFilesIn } from '../../../helpers/open-files.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';

async function readerOf(text: string) {
  const path = join(temporaryFolder(), 'audit.ndjson');
  writeFileSync(path, text);
  const log = await LogFileReader.open(path);
  onTestFinished(() => log.handle.close());
  return { path, log };
}

async function read(log: LogFileReader): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of log.lines()) lines.push(Buffer.from(line).toString());
  return lines;
}

describe('LogFileReader', () => {
  it('returns new finished lines at each read', async () => {
    const { path, log } = await readerOf('one\ntwo\nthr');
    expect([await read(log), log.position]).toStrictEqual([['one', 'two'], 11]);
    expect([await read(log), log.position]).toStrictEqual([[], 11]);
    appendFileSync(path, 'ee\nfour\n');
    expect([await read(log), log.position]).toStrictEqual([['three', 'four'], 19]);
  });

  it('restarts on request, without the unfinished line', async () => {
    const { path, log } = await readerOf('one\nhalf');
    await read(log);
    log.rewind();
    expect(log.position).toBe(0);
    writeFileSync(path, 'two\n');
    expect(await read(log)).toStrictEqual(['two']);
  });

  it('returns lines longer than one read', async () => {
    const long = 'x'.repeat(200_000);
    const { log } = await readerOf(`one\n${long}\ntwo\n`);
    expect(await read(log)).toStrictEqual(['one', long, 'two']);
  });

  it('keeps only as much of a line as shows that it exceeds 4 MiB', async () => {
    const { log } = await readerOf(`${'x'.repeat(4 * 1024 * 1024 + 9)}\n`);
    expect((await read(log)).map(({ length }) => length)).toStrictEqual([4 * 1024 * 1024 + 1]);
  });

  it('identifies its file', async () => {
    const { path, log } = await readerOf('one\n');
    const { ino, size } = statSync(path, { bigint: true });
    expect([log.path, log.inode]).toStrictEqual([path, ino]);
    expect(await fileAt(path)).toStrictEqual({ inode: ino, size: Number(size) });
  });
});

describe('a log file that cannot be read', () => {
  it('is empty when it is missing, unless it is required', async () => {
    const path = join(temporaryFolder(), 'audit.ndjson');
    expect(await LogFileReader.find(path)).toBeNull();
    expect(await fileAt(path)).toBeNull();
    const opening = LogFileReader.open(path);
    await expect(opening).rejects.toBeInstanceOf(AuditLogError);
    await expect(opening).rejects.toMatchObject({
      path,
      cause: { code: 'ENOENT', message: 'ENOENT: no such file' },
    });
  });

  it('is named by its path when it is something else', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'audit.ndjson');
    mkdirSync(path);
    for (const open of [() => LogFileReader.find(path), () => LogFileReader.open(path)]) {
      await expect(open()).rejects.toBeInstanceOf(AuditLogError);
      await expect(open()).rejects.toMatchObject({ path });
    }
    expect(openFilesIn(folder)).toEqual([]);
  });

  it('is named by its path when it is below a file', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const path = join(file, 'audit.ndjson');
    const ways = [
      () => LogFileReader.find(path),
      () => LogFileReader.open(path),
      () => fileAt(path),
    ];
    for (const look of ways) {
      await expect(look()).rejects.toBeInstanceOf(AuditLogError);
      await expect(look()).rejects.toMatchObject({ path, cause: { code: 'ENOTDIR' } });
    }
  });
});
