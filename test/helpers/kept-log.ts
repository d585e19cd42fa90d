import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { type ChainVerdict, verifyFiles } from '../../src/actors/records/log/audit.ts';
import { verifyNamed } from '../../src/actors/records/log/verify-files.ts';
import { type KeptStore, storeAround } from './kept-store.ts';
import { queryAtOnce } from './query-at-once.ts';

/** What was read of the logs in PostgreSQL, by their schemas: lines are only ever added. */
const known = new Map<string, { lines: number; text: string; path: string }>();

/** Reads the log of an agent as it is committed at this moment, by the path of its file: over PostgreSQL that is a copy, which comes later. */
export function readLog(path: string): string {
  const store = storeAround(path);
  if (store === null) return readFileSync(path, 'utf8');
  const before = known.get(store.schema);
  // Another agent may have had the schema before.
  const read = before?.path === path ? before : { lines: 0, text: '', path };
  const lines = linesAfter(read.lines, store);
  const now = { path, lines: read.lines + lines.length, text: read.text + lines.join('') };
  known.set(store.schema, now);
  return now.text;
}

/** Verifies the log of an agent where it is committed; over PostgreSQL its file is the beginning of the same log. */
export async function verifyKept(path: string): Promise<ChainVerdict> {
  const store = storeAround(path);
  if (store === null) return verifyFiles([path]);
  const copy = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const committed = linesAfter(0, store).join('');
  expect(committed.slice(0, copy.length)).toBe(copy);
  return verifyNamed([{ name: path, chunks: oneChunk(committed) }]);
}

function linesAfter(line: number, { url, schema }: KeptStore): string[] {
  const sql = `SELECT text FROM ${schema}.audit_lines WHERE line > $1 ORDER BY line`;
  return queryAtOnce(url, sql, [line]).map(({ text }) => `${String(text)}\n`);
}

async function* oneChunk(text: string): AsyncGenerator<string> {
  yield text;
}
