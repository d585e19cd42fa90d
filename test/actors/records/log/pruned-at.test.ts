import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GENESIS, prunedAt, standingBefore } from '../../../../src/actors/records/log/audit.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { openFilesIn } from '../../../helpers/open-files.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';

const head = 'ab'.repeat(32);
const cut: JsonObject = { event: 'checkpoint', fields: { count: 7 }, prev_hash: head };
const lineOf = (line: JsonObject) => JSON.stringify(line);

describe('standingBefore', () => {
  it('starts at the first remaining line', () => {
    expect(standingBefore(Buffer.from(lineOf(cut)))).toStrictEqual({ count: 7, head });
  });

  it.each<[string, string]>([
    ['no line', 'nonsense'],
    ['another event', lineOf({ ...cut, event: 'audit_pruned' })],
    ['the beginning of a whole log', lineOf({ ...cut, prev_hash: GENESIS })],
    ['no link', lineOf({ event: 'checkpoint', fields: { count: 7 } })],
    ['a count that is not a number', lineOf({ ...cut, fields: { count: '7' } })],
    ['no count', lineOf({ ...cut, fields: {} })],
    ['no fields', lineOf({ event: 'checkpoint', prev_hash: head })],
    ['fields that are not an object', lineOf({ ...cut, fields: null })],
  ])('is undefined for %s', (_, line) => {
    expect(standingBefore(Buffer.from(line))).toBeNull();
  });
});

describe('prunedAt', () => {
  function logIn(folder: string, ...texts: string[]): string[] {
    return texts.map((text, index) => {
      const path = join(folder, `${index}.ndjson`);
      writeFileSync(path, text);
      return path;
    });
  }

  it('reads only the first line of the oldest file, and closes it', async () => {
    const folder = temporaryFolder();
    const other = lineOf({ event: 'x', prev_hash: head });
    expect(await prunedAt(logIn(folder, `${lineOf(cut)}\n${other}\n`, other))).toStrictEqual({
      count: 7,
      head,
    });
    expect(await prunedAt(logIn(folder, `${other}\n`, `${lineOf(cut)}\n`))).toBeNull();
    expect(openFilesIn(folder)).toEqual([]);
  });

  it('is undefined for a log without a whole line, and without a log', async () => {
    const folder = temporaryFolder();
    expect(await prunedAt([])).toBeNull();
    expect(await prunedAt(logIn(folder, ''))).toBeNull();
    expect(await prunedAt(logIn(folder, lineOf(cut)))).toBeNull();
    expect(openFilesIn(folder)).toEqual([]);
  });

  it('reads a first line that is longer than one read', async () => {
    const long = { ...cut, fields: { count: 7, more: 'x'.repeat(200_000) } };
    const [path] = logIn(temporaryFolder(), `${lineOf(long)}\n`);
    expect(await prunedAt([path!])).toStrictEqual({ count: 7, head });
  });

  it('reports a missing oldest file', async () => {
    const path = join(temporaryFolder(), 'gone.ndjson');
    await expect(prunedAt([path])).rejects.toMatchObject({ code: 'ENOENT', path });
  });
});
