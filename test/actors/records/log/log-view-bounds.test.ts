import { describe, expect, it } from 'vitest';
import {
  LogIndexes,
  LogView,
  type NumberedLine,
  type OpenLogFile,
  verifyLog,
} from '../../../../src/actors/records/log/audit.ts';
import { fileOf } from './file-in-memory.ts';
import { logOf } from './log-of.ts';

const { signal } = new AbortController();
const mebibyte = 1024 * 1024;
const nothing = { event: 'nothing', task: '', decision: '' };

const viewOf = (...files: OpenLogFile[]) => LogView.of(files, new LogIndexes(), signal);
const viewOfText = (text: string) => viewOf(fileOf(text).file);

describe('the view of a log', () => {
  it('of no files is empty', async () => {
    const view = await viewOf();
    expect([view.first, view.last, view.pruned]).toEqual([1, 0, null]);
    expect(await view.before(9, 5, signal)).toEqual([]);
    expect(await view.search({ before: 9, limit: 5, wanted: nothing }, signal)).toEqual({
      lines: [],
      from: 1,
    });
  });

  it('counts the bytes of lines with newlines, over all files', async () => {
    const one = fileOf('one\nthree\n');
    const two = fileOf('äö\ntorn', { id: '2' });
    const view = await viewOf(one.file, fileOf('', { id: '3' }).file, two.file);
    const sizes = [
      [1, 4],
      [2, 3],
      [3, 3],
      [4, 4],
      [0, 99],
      [5, 9],
      [3, 2],
    ].map(([from = 0, to = 0]) => view.bytesOf({ from, to }, signal));
    expect(await Promise.all(sizes)).toEqual([19, 11, 5, 4, 19, 0, 0]);
  });

  it('finds lines far after a mark, in pieces', async () => {
    const texts = Array.from({ length: 3_000 }, (_, n) => `${n + 1} ${'x'.repeat(n % 311)}`);
    const { file, readFrom } = fileOf(`${texts.join('\n')}\n`);
    const view = await viewOf(file);
    for (const number of [1, 2, 700, 1_023, 1_024, 1_025, 2_047, 2_048, 2_049, 3_000]) {
      readFrom.length = 0;
      const [line] = await view.before(number + 1, 1, signal);
      expect(line).toStrictEqual({
        number,
        bytes: new Uint8Array(Buffer.from(texts[number - 1]!)),
      });
      expect(readFrom.length).toBeLessThan(10);
    }
  });

  it('returns at most 8 MiB of lines at once, but at least one line', async () => {
    const text = `${'x'.repeat(4 * mebibyte)}\n`.repeat(4);
    const view = await viewOfText(text);
    const numbers = async (before: number, limit: number) =>
      (await view.before(before, limit, signal)).map(({ number }) => number);
    expect(await numbers(5, 4)).toEqual([3, 4]);
    expect(await numbers(4, 4)).toEqual([2, 3]);
    expect(await numbers(5, 1)).toEqual([4]);
    const longer = await viewOfText(`${'x'.repeat(4 * mebibyte)}\n${text}`.replace('xx', 'x'));
    expect((await longer.before(4, 9, signal)).map(({ number }) => number)).toEqual([2, 3]);
  });

  it('returns lines that later reads do not change', async () => {
    const texts = Array.from({ length: 2_000 }, (_, n) => `${n} ${'x'.repeat(500)}`);
    const view = await viewOfText(`${texts.join('\n')}\n`);
    const lines = await view.before(2_001, 2_000, signal);
    expect(lines.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(texts);
  });

  it('returns lines that hold only their own memory', async () => {
    const view = await viewOfText('{"event":"x"}\n'.repeat(9_000));
    const wanted = { ...nothing, event: 'x' };
    const found = await view.search({ before: 9_001, limit: 1, wanted }, signal);
    const memoryOf = (lines: readonly NumberedLine[]) => [
      ...new Set(lines.map(({ bytes }) => bytes.buffer.byteLength)),
    ];
    expect(memoryOf(found.lines)).toEqual([13]);
    expect(memoryOf(await view.before(9_001, 100, signal))).toEqual([13]);
  });

  it('reports a file that becomes shorter during the read', async () => {
    const { file } = fileOf('one\ntwo\n');
    const view = await viewOf(file);
    file.handle.read = fileOf('one\n').file.handle.read;
    const said = 'audit.ndjson has become shorter while it was read';
    await expect(view.before(3, 2, signal)).rejects.toThrow(said);
    file.handle.read = fileOf('').file.handle.read;
    await expect(view.before(3, 1, signal)).rejects.toThrow(said);
  });

  it('reads a file that is shorter from the start', async () => {
    const view = await viewOf(fileOf('one\ntwo', { size: 9 }).file);
    expect([view.pruned, view.first, view.last]).toEqual([null, 1, 2]);
  });

  it('uses its own name in a verdict, for any file names', async () => {
    const { lines } = logOf(Array.from({ length: 3 }, () => ({ event: 'x', ts: '' })));
    const view = await viewOfText(lines.toSpliced(1, 1).join(''));
    expect(await verifyLog(view, signal)).toMatchObject({ ok: false, file: 'log', line: 2 });
  });

  it('reads nothing without a waiting reader', async () => {
    const left = AbortSignal.abort(new Error('gone'));
    const { file, readFrom } = fileOf('one\ntwo\n');
    await expect(LogView.of([file], new LogIndexes(), left)).rejects.toThrow('gone');
    expect(readFrom).toEqual([]);
    const view = await viewOf(file);
    readFrom.length = 0;
    await expect(view.before(3, 1, left)).rejects.toThrow('gone');
    await expect(view.bytesOf({ from: 2, to: 2 }, left)).rejects.toThrow('gone');
    expect(readFrom).toEqual([]);
  });
});

describe('a search in a log', () => {
  const line = (size: number) => `{"event":"x${' '.repeat(size - 13)}"}\n`;

  it('stops after the lines up to a mark once it has enough', async () => {
    const view = await viewOfText(line(20).repeat(3_000));
    const wanted = { ...nothing, event: 'x' };
    const search = async (before: number, limit: number) => {
      const { lines, from } = await view.search({ before, limit, wanted }, signal);
      return [lines[0]?.number, lines.at(-1)?.number, lines.length, from];
    };
    expect(await search(3_001, 1)).toEqual([2_049, 3_000, 952, 2_049]);
    expect(await search(9_999, 952)).toEqual([2_049, 3_000, 952, 2_049]);
    expect(await search(3_001, 953)).toEqual([1_025, 3_000, 1_976, 1_025]);
    expect(await search(2_049, 1)).toEqual([1_025, 2_048, 1_024, 1_025]);
    expect(await search(2, 1)).toEqual([1, 1, 1, 1]);
    expect(await search(1, 1)).toEqual([undefined, undefined, 0, 1]);
  });

  it('goes from mark to mark of each file, past those without lines', async () => {
    const counts = [0, 1_500, 0, 1_100, 0];
    const files = counts.map((count, n) => fileOf(line(20).repeat(count), { id: `${n}` }).file);
    const view = await viewOf(...files);
    const wanted = { ...nothing, event: 'x' };
    const blocks: number[][] = [];
    for (let before = 2_601; before > 1; ) {
      const { lines, from } = await view.search({ before, limit: 1, wanted }, signal);
      blocks.push([from, lines.length]);
      before = from;
    }
    expect(blocks).toEqual([
      [2_525, 76],
      [1_501, 1_024],
      [1_025, 476],
      [1, 1_024],
    ]);
  });

  it.each([
    ['continues at 8 MiB', 8_192, 1],
    ['stops above 8 MiB', 8_193, 1_025],
  ])('%s of matching lines', async (_, size, from) => {
    const view = await viewOfText(line(size).repeat(2_048));
    const wanted = { ...nothing, event: 'x' };
    const found = await view.search({ before: 2_049, limit: 5_000, wanted }, signal);
    expect([found.lines.length, found.from]).toEqual([2_049 - from, from]);
  });

  it('stops after 256 MiB without a match', async () => {
    const size = 256 * 1024;
    const handle = {
      // As large as what is read at once, so that each piece is a line.
      read: async (buffer: Buffer, offset: number, length: number) => {
        buffer.fill('x', offset, length).fill('\n', length - 1);
        return { bytesRead: length, buffer };
      },
    };
    const index = { version: '1', size: 3_072 * size, lines: 3_072, end: { offset: 0, line: 0 } };
    const marks = [0, 1_024 * size, 2_048 * size];
    const indexes = { of: async () => ({ ...index, marks }) } as unknown as LogIndexes;
    const file = { ...fileOf('').file, handle } as unknown as OpenLogFile;
    const view = await LogView.of([file], indexes, signal);
    const search = (before: number) => view.search({ before, limit: 1, wanted: nothing }, signal);
    expect(await search(3_073)).toEqual({ lines: [], from: 2_049 });
    expect(await search(3_072)).toEqual({ lines: [], from: 1_025 });
  });
});

describe('the first remaining line of a log', () => {
  const head = 'ab'.repeat(32);
  const cutAt = (fields: object) =>
    logOf([{ event: 'checkpoint', ts: '', fields: { count: 0, ...fields } }], head).lines.join('');

  it.each([
    [0, { count: 0, head }, 1],
    [1e12 - 1, { count: 1e12 - 1, head }, 1e12],
    [1e12, null, 1],
    [1.5, null, 1],
  ])('is accepted when it counts %d lines before it or not', async (count, pruned, first) => {
    const view = await viewOfText(cutAt({ count }));
    expect([view.pruned, view.first, view.last]).toStrictEqual([pruned, first, first]);
  });

  it('may be longer than one read, and must be finished', async () => {
    const more = Array.from({ length: 20 }, () => 'x'.repeat(9_000));
    const text = cutAt({ count: 7, more });
    expect((await viewOfText(text)).first).toBe(8);
    expect((await viewOfText(text.trimEnd())).first).toBe(1);
  });

  it('is searched within 4 MiB', async () => {
    const long = `${'x'.repeat(4 * mebibyte)}\n`;
    const { file, readFrom } = fileOf(long);
    await viewOf(file);
    // What finds the lines afterwards begins at the start again.
    expect(readFrom.indexOf(0, 1)).toBe(64);
  });
});
