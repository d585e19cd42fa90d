import { randomUUID } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  LogIndexes,
  LogView,
  LongLineError,
  type OpenLogFile,
  verifyLog,
} from '../../../../src/actors/records/log/audit.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';
import { checkpointedLog, events, logOf } from './log-of.ts';

const { signal } = new AbortController();

async function opened(path: string): Promise<OpenLogFile> {
  const handle = await open(path);
  onTestFinished(() => handle.close());
  const { size, ino, mtimeNs } = await handle.stat({ bigint: true });
  return { path, handle, size: Number(size), id: String(ino), version: `${size} ${mtimeNs}` };
}

/** Opens a log that is kept in files of these texts. */
async function viewOf(texts: readonly string[], indexes = new LogIndexes()) {
  const folder = temporaryFolder();
  const files = texts.map((text) => {
    const path = join(folder, randomUUID());
    writeFileSync(path, text);
    return path;
  });
  return LogView.of(await Promise.all(files.map(opened)), indexes, signal);
}

async function numbered(view: LogView, before: number, limit: number) {
  const lines = await view.before(before, limit, signal);
  return lines.map(({ number, bytes }) => `${number} ${Buffer.from(bytes).toString()}`);
}

async function textOf(view: LogView, range: { from: number; to: number }): Promise<string> {
  const chunks = await Array.fromAsync(view.chunks(range, signal));
  return Buffer.concat(chunks).toString();
}

describe('the view of a log', () => {
  it('numbers each line over all files, as a read from the start does', async () => {
    const line = fc.integer({ min: 0, max: 3 }).map((length) => 'x'.repeat(length));
    const file = fc.array(line, { maxLength: 2_200, size: 'max' });
    await fc.assert(
      fc.asyncProperty(
        fc.array(file, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        fc.nat(5_000),
        fc.nat(60),
        async (files, isTorn, from, length) => {
          const whole = files.map((lines) => lines.map((text, n) => `${text}${n}\n`).join(''));
          const texts = isTorn ? [...whole.slice(0, -1), `${whole.at(-1) ?? ''}torn`] : whole;
          const lines = texts
            .join('')
            .split(/(?<=\n)/u)
            .filter((text) => text !== '');
          const view = await viewOf(texts);
          expect([view.first, view.last]).toEqual([1, lines.length]);
          const to = Math.min(lines.length, from + length);
          expect(await textOf(view, { from, to })).toBe(
            lines.slice(Math.max(0, from - 1), to).join(''),
          );
          expect(await numbered(view, to + 1, 5)).toEqual(
            lines
              .slice(0, to)
              .map((text, index) => `${index + 1} ${text.replace(/\n$/, '')}`)
              .slice(-5),
          );
        },
      ),
      { numRuns: 12 },
    );
  });

  it('continues after the log has grown', async () => {
    const path = join(temporaryFolder(), 'audit.ndjson');
    const indexes = new LogIndexes();
    writeFileSync(path, 'one\ntwo\nthr');
    const before = await LogView.of([await opened(path)], indexes, signal);
    appendFileSync(path, 'ee\nfour\n');
    const after = await LogView.of([await opened(path)], indexes, signal);
    expect([before.last, after.last]).toEqual([3, 4]);
    expect(await numbered(after, 5, 2)).toEqual(['3 three', '4 four']);
  });

  it('numbers the lines of a pruned log unchanged, and verifies it from there', async () => {
    const gone = checkpointedLog(20);
    const cut = { event: 'checkpoint', ts: '', fields: { count: 21, head: gone.head } };
    const left = logOf([cut, ...events(3)], gone.head);
    const view = await viewOf([left.lines.join('')]);
    expect([view.pruned, view.first, view.last]).toEqual([{ count: 21, head: gone.head }, 22, 25]);
    expect(await verifyLog(view, signal)).toMatchObject({ ok: true, events: 4, head: left.head });
  });

  it('refuses an invalid count', async () => {
    const { head } = checkpointedLog(2);
    for (const count of [-1, 1.5, 1e300]) {
      const { lines } = logOf([{ event: 'checkpoint', ts: '', fields: { count, head } }], head);
      const view = await viewOf([lines.join('')]);
      expect([view.pruned, view.first]).toEqual([null, 1]);
    }
  });

  it('finds events, tasks and decisions from the end, some lines at a time', async () => {
    const made = Array.from({ length: 5_000 }, (_, index) => ({
      event: index % 2 === 0 ? 'guardrail_check' : 'llm_call',
      ts: '',
      task_id: index % 1_000 === 0 ? 'refund "1"' : 'refund-2',
      fields: { decision: index === 2_000 ? 'deny' : 'redact' },
    }));
    const view = await viewOf([logOf(made).lines.join('')]);
    const search = async (wanted: Parameters<LogView['search']>[0]['wanted']) => {
      const found: number[] = [];
      for (let before = view.last + 1; before > 1; ) {
        const { lines, from } = await view.search({ before, limit: 1, wanted }, signal);
        found.unshift(...lines.map(({ number }) => number));
        before = from;
      }
      return found;
    };
    const anything = { event: '', task: '', decision: '' };
    expect(await search({ ...anything, task: 'refund "1' })).toEqual([
      1, 1_001, 2_001, 3_001, 4_001,
    ]);
    expect(await search({ ...anything, decision: 'deny' })).toEqual([2_001]);
    expect(await search({ ...anything, task: 'refund', isWholeTask: true })).toEqual([]);
    expect(
      await search({ ...anything, event: 'guardrail', task: '"1"', decision: 'deny' }),
    ).toEqual([2_001]);
  });

  it('searches only lines that can be in a range of time', async () => {
    const at = (number: number): number => Date.UTC(2026, 6, 1) + number * 60_000;
    const all = Array.from({ length: 5_000 }, (_, index) => ({
      ...{ event: 'tool_exec', ts: new Date(at(index + 1)).toISOString(), seq: 1 },
      task_id: index % 2 === 0 ? 'even' : 'odd',
    }));
    const { lines } = logOf(all);
    const view = await viewOf([lines.slice(0, 2_000).join(''), lines.slice(2_000).join('')]);
    const search = async (range: object, before = view.last + 1, limit = 2_000) => {
      const wanted = { event: '', task: 'even', decision: '', ...range };
      const found = await view.search({ before, limit, wanted }, signal);
      return { ...found, lines: found.lines.map(({ number }) => number) };
    };
    expect(await search({ from: at(1_997), to: at(2_003) })).toEqual({
      ...{ lines: [1_997, 1_999, 2_001, 2_003], from: 1 },
    });
    expect(await search({ from: at(1_997), to: at(2_003) }, 2_001)).toEqual({
      ...{ lines: [1_997, 1_999], from: 1 },
    });
    expect(await search({ from: at(5_001) })).toEqual({ lines: [], from: 1 });
    const { lines: newest, from } = await search({ from: at(100) }, view.last + 1, 1);
    expect(newest.at(-1)).toBe(4_999);
    expect(from).toBe(newest[0]);
  });

  it('refuses an impossible request before it reads the whole log', async () => {
    await expect(viewOf(['{}\n', 'x'.repeat(4 * 1024 * 1024 + 2_000_000)])).rejects.toThrow(
      LongLineError,
    );
  });

  it('stops reading without a waiting reader', async () => {
    const view = await viewOf([checkpointedLog(3_000).lines.join('')]);
    const left = new AbortController();
    const chunks = view.chunks({ from: 1, to: view.last }, left.signal);
    await chunks.next();
    left.abort(new Error('gone'));
    await expect(chunks.next()).rejects.toThrow('gone');
    await expect(verifyLog(view, left.signal)).rejects.toThrow('gone');
  });
});
