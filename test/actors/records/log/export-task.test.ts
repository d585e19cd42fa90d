import { hash } from 'node:crypto';
import { appendFile, link, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AuditLogError, exportTask, GENESIS } from '../../../../src/actors/records/log/audit.ts';
import type { Exporting } from '../../../../src/actors/records/log/export-task.ts';
import { finishedPath } from '../../../../src/actors/records/log/log-files.ts';
import { openFilesIn } from '../../../helpers/open-files.ts';
import { events, logOf } from './log-of.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audit-export-'));
  path = join(folder, 'audit.ndjson');
});

afterEach(async () => {
  const stillOpen = openFilesIn(folder);
  await rm(folder, { recursive: true });
  expect(stillOpen).toEqual([]);
});

/** A log of two tasks whose lines take turns. */
function mixedLog(count: number) {
  const ours = events(count, 'ours');
  const theirs = events(count, 'theirs');
  return logOf(ours.flatMap((event, index) => [event, theirs[index]!]));
}

async function exported(withProof: boolean, task = 'ours') {
  const lines: object[] = [];
  const summary = await exportTask({ path, task, withProof }, async (line) => {
    const { bytes, ...place } = line;
    lines.push({ ...place, line: Buffer.from(bytes).toString() });
    return true;
  });
  return { lines, summary };
}

describe('exportTask', () => {
  it('returns the exact lines of one task, over all files, with their places', async () => {
    const { lines, head } = mixedLog(4);
    const finished = finishedPath(path, 1);
    await writeFile(finished, lines.slice(0, 5).join(''));
    await writeFile(path, lines.slice(5).join(''));
    const expected = [0, 2, 4, 6].map((index) => {
      const line = lines[index]!.trimEnd();
      const isFinished = index < 5;
      return {
        file: isFinished ? finished : path,
        lineNumber: isFinished ? index + 1 : index - 4,
        number: index + 1,
        sha256: hash('sha256', line, 'hex'),
        line,
      };
    });
    expect(await exported(true)).toStrictEqual({
      lines: expected,
      summary: { exported: 4, count: 8, head, broken: null },
    });
    expect(await exported(false)).toStrictEqual({
      lines: expected.map((line) => ({ ...line, sha256: '' })),
      summary: { exported: 4, count: 8, head: GENESIS, broken: null },
    });
  });

  it('finds the first line that does not follow the one before, only with a proof', async () => {
    const { lines } = mixedLog(4);
    await writeFile(path, lines.toSpliced(3, 1).join(''));
    const { summary } = await exported(true);
    expect(summary).toMatchObject({ exported: 4, broken: { file: path, lineNumber: 4 } });
    expect((await exported(false)).summary.broken).toBeNull();
  });

  it('accepts the first remaining line of a pruned log', async () => {
    const { lines } = mixedLog(4);
    await writeFile(path, lines.slice(2).join(''));
    expect((await exported(true)).summary).toMatchObject({ count: 6, broken: null });
  });

  it('reports where a log is broken first', async () => {
    const { lines } = mixedLog(4);
    await writeFile(path, [lines[0], lines[2], lines[5]].join(''));
    expect((await exported(true)).summary.broken).toStrictEqual({
      ...{ file: path, lineNumber: 2, number: 2 },
    });
  });

  it('reports an invalid line as a break', async () => {
    const { lines } = mixedLog(1);
    await writeFile(path, [lines[0], 'nonsense\n', lines[1]].join(''));
    expect((await exported(true)).summary).toMatchObject({
      count: 3,
      broken: { file: path, lineNumber: 2 },
    });
  });

  it('repeats no line of a file during its rotation', async () => {
    const { lines } = mixedLog(2);
    await writeFile(path, lines.join(''));
    await link(path, finishedPath(path, 1));
    expect((await exported(false)).summary).toMatchObject({ exported: 2, count: 4 });
  });

  it('parses no line that does not name the task', async () => {
    await writeFile(path, mixedLog(3).lines.join(''));
    const parse = vi.spyOn(JSON, 'parse');
    expect((await exported(false, 'nobodys')).summary).toMatchObject({ exported: 0, count: 6 });
    expect(parse).not.toHaveBeenCalled();
  });

  it('ignores a line that only mentions the task', async () => {
    const [mine] = events(1, 'ours');
    const other = { ...mine!, task_id: 'theirs', fields: { note: 'ours', task_id: 'ours' } };
    await writeFile(
      path,
      `${logOf([other, mine!]).lines.join('')}"ours"\nours\n{"task_id":"ours"}\n`,
    );
    expect((await exported(false)).lines).toMatchObject([{ lineNumber: 2 }]);
  });

  it('omits an unfinished line', async () => {
    const { lines } = mixedLog(2);
    await writeFile(path, lines.join('').trimEnd());
    expect((await exported(true, 'theirs')).summary).toMatchObject({ exported: 1, count: 3 });
  });

  it('omits and repeats no line when the log is rotated during the read', async () => {
    const { lines } = mixedLog(4);
    await writeFile(path, lines.slice(0, 7).join(''));
    const found: unknown[] = [];
    await exportTask({ path, task: 'ours', withProof: false }, async ({ bytes }) => {
      if (found.length === 0) {
        await rename(path, finishedPath(path, 1));
        await appendFile(path, lines[7]!);
      }
      found.push(Buffer.from(bytes).toString());
      return true;
    });
    expect(found).toEqual([0, 2, 4, 6].map((index) => lines[index]!.trimEnd()));
  });

  describe('with a range of time', () => {
    const hours = Array.from({ length: 8 }, (_, index) => Date.UTC(2026, 6, 1, index));
    const timed = hours.map((at, index) => ({
      event: 'x',
      ts: new Date(at).toISOString(),
      task_id: index % 2 === 0 ? 'even' : 'odd',
    }));

    async function inRange(exporting: Omit<Exporting, 'withProof'> & { withProof?: boolean }) {
      const found: string[] = [];
      const summary = await exportTask({ path, withProof: false, ...exporting }, async (line) => {
        found.push(JSON.parse(Buffer.from(line.bytes).toString()).ts);
        return true;
      });
      return { found, summary };
    }

    const times = (...indexes: number[]): string[] => indexes.map((index) => timed[index]!.ts);

    beforeEach(async () => {
      const { lines } = logOf(timed);
      await writeFile(finishedPath(path, 1), lines.slice(0, 3).join(''));
      await writeFile(finishedPath(path, 4), lines.slice(3, 5).join(''));
      await writeFile(path, lines.slice(5).join(''));
    });

    it('returns its lines over all files, both ends included', async () => {
      const [two, five] = [hours[2]!, hours[5]!];
      const [all, even] = [{ task: null }, { task: 'even' }];
      expect((await inRange({ ...all, from: two, to: five })).found).toEqual(times(2, 3, 4, 5));
      expect((await inRange({ ...all, from: two + 1 })).found).toEqual(times(3, 4, 5, 6, 7));
      expect((await inRange({ ...all, to: two - 1 })).found).toEqual(times(0, 1));
      expect((await inRange({ ...even, from: two, to: five })).found).toEqual(times(2, 4));
      expect((await inRange({ ...all, from: hours[7]! + 1 })).found).toEqual([]);
    });

    it('reads only the relevant part of the log, unless it proves', async () => {
      const range = { task: null, from: hours[4], to: hours[4] };
      expect((await inRange(range)).summary.count).toBe(1);
      const proof = await inRange({ ...range, withProof: true });
      expect(proof).toEqual({
        found: times(4),
        summary: { exported: 1, count: 8, head: logOf(timed).head, broken: null },
      });
    });

    it('finds lines next to others without a time, above 4 MiB or out of order', async () => {
      const line = (at: number) =>
        `${JSON.stringify({ event: 'x', ts: new Date(at).toISOString() })}\n`;
      const late = hours[3]! + 4_000;
      const odd = ['nonsense\n', `{"event":"${'x'.repeat(5 * 1024 * 1024)}"}\n`, '\n'];
      const parts = [line(hours[1]!), ...odd, line(late), line(hours[3]!), ...odd, line(hours[5]!)];
      await Promise.all([1, 4].map((first) => rm(finishedPath(path, first))));
      await writeFile(path, parts.join(''));
      const { found } = await inRange({ task: null, from: hours[3], to: hours[3] });
      expect(found).toEqual(times(3));
      const { found: later } = await inRange({ task: null, from: late });
      expect(later).toEqual([new Date(late).toISOString(), ...times(5)]);
    });
  });

  it('stops when no more lines are wanted', async () => {
    await writeFile(path, mixedLog(4).lines.join(''));
    const found: number[] = [];
    await exportTask({ path, task: 'ours', withProof: false }, async ({ lineNumber }) => {
      found.push(lineNumber);
      return found.length < 2;
    });
    expect(found).toEqual([1, 3]);
  });

  it('reports a missing log', async () => {
    await expect(exported(false)).rejects.toBeInstanceOf(AuditLogError);
  });
});
