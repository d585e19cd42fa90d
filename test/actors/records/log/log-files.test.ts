import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  finishedFilesOf,
  finishedPath,
  logFilesOf,
} from '../../../../src/actors/records/log/log-files.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';

function folderWith(...names: string[]): string {
  const folder = temporaryFolder();
  for (const name of names) writeFileSync(join(folder, name), '');
  return folder;
}

describe('the files of a log', () => {
  it('are the finished ones in order, then the current one', () => {
    const folder = folderWith(
      'audit-999999999999.ndjson',
      'audit-1000000000000.ndjson',
      'audit-000000000003.ndjson',
      'audit.ndjson',
    );
    const path = join(folder, 'audit.ndjson');
    const finished = [
      { path: join(folder, 'audit-000000000003.ndjson'), first: 3 },
      { path: join(folder, 'audit-999999999999.ndjson'), first: 999_999_999_999 },
      { path: join(folder, 'audit-1000000000000.ndjson'), first: 1_000_000_000_000 },
    ];
    expect(finishedFilesOf(path)).toStrictEqual(finished);
    expect(logFilesOf(path)).toStrictEqual([...finished.map((file) => file.path), path]);
  });

  it('are only the finished ones without a current one', () => {
    const folder = folderWith('audit-000000000001.ndjson');
    expect(logFilesOf(join(folder, 'audit.ndjson'))).toStrictEqual([
      join(folder, 'audit-000000000001.ndjson'),
    ]);
  });

  it('are empty in a missing folder', () => {
    const path = join(temporaryFolder(), 'gone', 'audit.ndjson');
    expect([finishedFilesOf(path), logFilesOf(path)]).toStrictEqual([[], []]);
  });

  it.each([
    ['another name', 'other-000000000001.ndjson'],
    ['a longer name', 'my-audit-000000000001.ndjson'],
    ['another ending', 'audit-000000000001.ndjson.torn'],
    ['no ending', 'audit-000000000001'],
    ['a short number', 'audit-00000000001.ndjson'],
    ['no number', 'audit-.ndjson'],
    ['letters in its number', 'audit-00000000000a.ndjson'],
    ['letters before its number', 'audit-a000000000001.ndjson'],
    ['letters after its number', 'audit-000000000001a.ndjson'],
    ['only the name', 'audit.ndjson.head'],
  ])('do not include %s', (_, name) => {
    const folder = folderWith(name);
    expect(finishedFilesOf(join(folder, 'audit.ndjson'))).toStrictEqual([]);
  });

  it('may be next to others and have no extension', () => {
    const folder = folderWith('log-000000000007', 'log');
    mkdirSync(join(folder, 'more'));
    expect(logFilesOf(join(folder, 'log'))).toStrictEqual([
      join(folder, 'log-000000000007'),
      join(folder, 'log'),
    ]);
  });
});

describe('finishedPath', () => {
  it.each([
    ['/logs/audit.ndjson', 1, '/logs/audit-000000000001.ndjson'],
    ['/logs/audit.ndjson', 1_000_000_000_000, '/logs/audit-1000000000000.ndjson'],
    ['/logs/log', 42, '/logs/log-000000000042'],
  ])('of %s from line %i on', (path, first, finished) => {
    expect(finishedPath(path, first)).toBe(finished);
  });
});
