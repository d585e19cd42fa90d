import { describe, expect, it } from 'vitest';
import { LogIndexes, LongLineError } from '../../../../src/actors/records/log/log-index.ts';
import { fileOf } from './file-in-memory.ts';

const { signal } = new AbortController();
const mebibyte = 1024 * 1024;

const lines = (count: number) => 'x\n'.repeat(count);

describe('the index of a log file', () => {
  it.each([
    ['no lines', '', 0, { offset: 0, line: 0 }],
    ['lines', 'one\ntwo\n', 2, { offset: 8, line: 2 }],
    ['an unfinished line', 'one\ntorn', 2, { offset: 4, line: 1 }],
    ['only an unfinished line', 'torn', 1, { offset: 0, line: 0 }],
  ])('contains the end of the last line: %s', async (_, text, count, end) => {
    expect(await new LogIndexes().of(fileOf(text).file, signal)).toStrictEqual({
      version: '1',
      size: text.length,
      lines: count,
      marks: count === 0 ? [] : [0],
      end,
    });
  });

  it.each([
    [lines(1_024), [0]],
    [lines(1_025), [0, 2_048]],
    [`${lines(1_024)}torn`, [0, 2_048]],
    [lines(3_000), [0, 2_048, 4_096]],
  ])('contains the beginning of each thousandth line', async (text, marks) => {
    expect(await new LogIndexes().of(fileOf(text).file, signal)).toMatchObject({ marks });
  });

  it('is reused while the file is unchanged', async () => {
    const indexes = new LogIndexes();
    const index = await indexes.of(fileOf('one\n').file, signal);
    const again = fileOf('one\n');
    expect(await indexes.of(again.file, signal)).toBe(index);
    expect(again.readFrom).toEqual([]);
  });

  it('reads only the added part of a file', async () => {
    const indexes = new LogIndexes();
    await indexes.of(fileOf(`${lines(1_024)}to`).file, signal);
    const grown = fileOf(`${lines(1_024)}torn\nnext\n`, { version: '2' });
    expect(await indexes.of(grown.file, signal)).toStrictEqual({
      version: '2',
      size: 2_058,
      lines: 1_026,
      marks: [0, 2_048],
      end: { offset: 2_058, line: 1_026 },
    });
    expect(grown.readFrom).toEqual([2_048]);
  });

  it.each([
    ['shorter', 'four\n'],
    ['as long', 'four\nfive\n'],
  ])('is rebuilt for a file that was rewritten and is %s', async (_, text) => {
    const indexes = new LogIndexes();
    await indexes.of(fileOf('one\ntwo\n3\n').file, signal);
    const anew = fileOf(text, { version: '2' });
    expect(await indexes.of(anew.file, signal)).toStrictEqual({
      version: '2',
      size: text.length,
      lines: text.length / 5,
      marks: [0],
      end: { offset: text.length, line: text.length / 5 },
    });
    expect(anew.readFrom).toEqual([0]);
  });

  it('is one for each file', async () => {
    const indexes = new LogIndexes();
    expect(await indexes.of(fileOf('one\n').file, signal)).toMatchObject({ lines: 1 });
    const other = fileOf('one\ntwo\n', { id: '2' });
    expect(await indexes.of(other.file, signal)).toMatchObject({ lines: 2 });
    expect(other.readFrom).toEqual([0]);
  });

  it('is dropped for the oldest file when there are too many', async () => {
    const indexes = new LogIndexes();
    const isKept = async (id: string) => {
      const { file, readFrom } = fileOf('one\n', { id });
      await indexes.of(file, signal);
      return readFrom.length === 0;
    };
    for (let id = 1; id <= 1_024; id += 1) await isKept(`${id}`);
    expect([await isKept('1'), await isKept('1024')]).toEqual([true, true]);
    await indexes.of(fileOf('one\ntwo\n', { id: '1', version: '2' }).file, signal);
    await isKept('1025');
    expect(await isKept('3')).toBe(true);
    expect(await isKept('2')).toBe(false);
    expect(await isKept('3')).toBe(false);
  });

  it('covers only the size at opening', async () => {
    const { file } = fileOf('one\ntwo\nthree\n', { size: 6 });
    expect(await new LogIndexes().of(file, signal)).toMatchObject({
      lines: 2,
      end: { offset: 4, line: 1 },
    });
    const long = fileOf(lines(mebibyte), { size: mebibyte + 6 });
    expect(await new LogIndexes().of(long.file, signal)).toMatchObject({
      lines: mebibyte / 2 + 3,
    });
  });

  it('stops where a file has become shorter', async () => {
    const { file, readFrom } = fileOf('one\n', { size: 3 * mebibyte });
    expect(await new LogIndexes().of(file, signal)).toMatchObject({ end: { offset: 4, line: 1 } });
    expect(readFrom).toEqual([0, 4]);
  });

  it('stops reading without waiting readers', async () => {
    const left = AbortSignal.abort(new Error('gone'));
    const { file, readFrom } = fileOf('one\n');
    await expect(new LogIndexes().of(file, left)).rejects.toThrow('gone');
    expect(readFrom).toEqual([]);
  });
});

describe('a line that is too long for a log', () => {
  it('is refused by the path of its file before the rest is read', async () => {
    const { file, readFrom } = fileOf('x'.repeat(8 * mebibyte));
    const looking = new LogIndexes().of(file, signal);
    await expect(looking).rejects.toBeInstanceOf(LongLineError);
    await expect(looking).rejects.toMatchObject({
      code: 'line_too_long',
      path: 'audit.ndjson',
      message: 'audit.ndjson has a line that is longer than 4 MiB',
    });
    expect(readFrom).toEqual([0, 1, 2, 3, 4].map((block) => block * mebibyte));
  });

  it('is distinguished from one of 4 MiB, and from several shorter ones', async () => {
    const { file } = fileOf(`one\n${'x'.repeat(4 * mebibyte)}\n`);
    expect(await new LogIndexes().of(file, signal)).toMatchObject({ lines: 2 });
    const many = fileOf(`${'x'.repeat(mebibyte)}\n`.repeat(6));
    expect(await new LogIndexes().of(many.file, signal)).toMatchObject({ lines: 6 });
  });
});
