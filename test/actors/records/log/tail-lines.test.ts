import { getEventListeners } from 'node:events';
import { appendFile, mkdtemp, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AuditLogError,
  type TailOptions,
  tailLines,
} from '../../../../src/actors/records/log/audit.ts';
import { finishedPath } from '../../../../src/actors/records/log/log-files.ts';
import { openFilesIn } from '../../../helpers/open-files.ts';
import { events, logOf } from './log-of.ts';
import { ManualClock } from './manual-clock.ts';

let folder: string;
let path: string;
let clock: ManualClock;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audit-tail-'));
  path = join(folder, 'audit.ndjson');
  clock = new ManualClock();
});

afterEach(async () => {
  const stillOpen = openFilesIn(folder);
  await rm(folder, { recursive: true });
  expect(stillOpen).toEqual([]);
});

function linesOf(count: number, task?: string): string[] {
  return logOf(events(count, task)).lines;
}

/** A line that would hold an event, were it not too long. */
const long = `{"event":"x","ts":"","task_id":"mine"}${' '.repeat(5 * 1024 * 1024)}\n`;

const tailed = (line: string) => ({ text: line.trimEnd(), event: JSON.parse(line) as unknown });

const parsed = (lines: readonly string[]) => lines.map(tailed);

function tail(options: Partial<TailOptions> = {}) {
  return tailLines({ path, limit: 10, clock, ...options });
}

describe('tailLines', () => {
  it('yields the latest events, oldest first', async () => {
    const lines = linesOf(5);
    await writeFile(path, lines.join(''));
    expect(await Array.fromAsync(tail({ limit: 2 }))).toStrictEqual(parsed(lines.slice(3)));
    expect(await Array.fromAsync(tail({ limit: 9 }))).toStrictEqual(parsed(lines));
    expect(await Array.fromAsync(tail({ limit: 0 }))).toStrictEqual([]);
  });

  it('yields all events of a range, or the latest of them', async () => {
    const hours = Array.from({ length: 6 }, (_, index) => Date.UTC(2026, 6, 1, index));
    const { lines } = logOf(hours.map((at) => ({ event: 'x', ts: new Date(at).toISOString() })));
    await writeFile(finishedPath(path, 1), lines.slice(0, 3).join(''));
    await writeFile(path, lines.slice(3).join(''));
    const [from, to] = [hours[1]!, hours[4]!];
    const found = (options: Partial<TailOptions>) => Array.fromAsync(tail(options));
    expect(await found({ from, to, limit: null })).toStrictEqual(parsed(lines.slice(1, 5)));
    expect(await found({ from, to, limit: 3 })).toStrictEqual(parsed(lines.slice(2, 5)));
    expect(await found({ from, to, limit: 9 })).toStrictEqual(parsed(lines.slice(1, 5)));
    expect(await found({ to: from, limit: null })).toStrictEqual(parsed(lines.slice(0, 2)));
    expect(await found({ from: hours[5]! + 1, limit: null })).toStrictEqual([]);
  });

  it('yields all events since a time, then new ones', async () => {
    const hours = Array.from({ length: 4 }, (_, index) => Date.UTC(2026, 6, 1, index));
    const { lines } = logOf(hours.map((at) => ({ event: 'x', ts: new Date(at).toISOString() })));
    await writeFile(path, lines.slice(0, 3).join(''));
    const aborting = new AbortController();
    const followed = tail({
      ...{ from: hours[1]!, limit: null, follow: true },
      signal: aborting.signal,
    });
    const next = async () => (await followed.next()).value;
    expect([await next(), await next()]).toStrictEqual(parsed(lines.slice(1, 3)));
    await appendFile(path, lines[3]!);
    expect(await next()).toStrictEqual(tailed(lines[3]!));
    aborting.abort();
    await followed.return(undefined);
  });

  it('yields nothing of an empty log', async () => {
    await writeFile(path, '');
    expect(await Array.fromAsync(tail())).toStrictEqual([]);
  });

  it('counts only the events of the task and the name that were asked for', async () => {
    const mine = linesOf(4, 'mine');
    const others = linesOf(4, 'other');
    const end = logOf([{ event: 'session_end', ts: '2026-07-01T09:00:00.000Z', task_id: 'mine' }]);
    const mixed = mine.flatMap((line, index) => [line, others[index]!]).concat(end.lines, others);
    await writeFile(path, mixed.join(''));
    const byBoth = tail({ limit: 2, task: 'mine', event: 'tool_exec' });
    expect(await Array.fromAsync(byBoth)).toStrictEqual(parsed(mine.slice(2)));
    const byName = tail({ limit: 2, event: 'session_end' });
    expect(await Array.fromAsync(byName)).toStrictEqual(parsed(end.lines));
  });

  it('reads lines longer than a block and across blocks', async () => {
    const fields = (size: number) => ({
      long: Array.from({ length: size }, () => 'x'.repeat(9999)),
    });
    const sizes = [0, 20, 1, 7, 0, 13];
    const { lines } = logOf(
      sizes.map((size) => ({ event: 'x', ts: '2026-07-01T09:00:00.000Z', fields: fields(size) })),
    );
    await writeFile(path, lines.join(''));
    expect(await Array.fromAsync(tail())).toStrictEqual(parsed(lines));
  });

  it('finds lines at any block boundary', async () => {
    const [line] = linesOf(1);
    const [first, ...rest] = linesOf(3);
    const padding = 64 * 1024 - rest.join('').length;
    for (const shift of [-1, 0, 1, 2, first!.length]) {
      const before = `${'x'.repeat(padding + shift)}\n`;
      await writeFile(path, [line, before, ...rest].join(''));
      const found = await Array.fromAsync(tail({ event: '*' }));
      expect(found).toStrictEqual(parsed([line!, ...rest]));
    }
  });

  it('yields invalid lines as such, unless a filter is given', async () => {
    const [first, second, third] = linesOf(3);
    const strange = ['nonsense', '', '[]', '{"event":5,"ts":""}'];
    await writeFile(path, [first, `${strange.join('\n')}\n`, second, third!.trimEnd()].join(''));
    expect(await Array.fromAsync(tail())).toStrictEqual([
      tailed(first!),
      ...strange.map((text) => ({ text, event: null })),
      tailed(second!),
    ]);
    expect(await Array.fromAsync(tail({ task: 't-1' }))).toStrictEqual(parsed([first!, second!]));
    expect(await Array.fromAsync(tail({ event: 'tool_exec' }))).toHaveLength(2);
  });

  it('skips lines that are too long', async () => {
    const lines = linesOf(3);
    await writeFile(path, [long, lines[0], long, lines[1], long, lines[2]!.trimEnd()].join(''));
    expect(await Array.fromAsync(tail({ event: '*' }))).toStrictEqual(parsed(lines.slice(0, 2)));
  });

  it('reads a name with a star as a prefix', async () => {
    const ts = '2026-07-01T09:00:00.000Z';
    const names = ['task_deferred', 'tool_exec', 'task_deferred_decision', 'task_admission_denied'];
    const { lines } = logOf(names.map((event) => ({ event, ts })));
    await writeFile(path, lines.join(''));
    const namesFor = async (event: string) =>
      (await Array.fromAsync(tail({ event }))).map((line) => line.event?.event);
    expect(await namesFor('task_deferred*')).toEqual(['task_deferred', 'task_deferred_decision']);
    expect(await namesFor('task_deferred')).toEqual(['task_deferred']);
    expect(await namesFor('*')).toEqual(names);
    expect(await namesFor('task.*')).toEqual([]);
  });

  it('continues in the files before the current one', async () => {
    const lines = linesOf(7);
    await writeFile(finishedPath(path, 1), lines.slice(0, 3).join(''));
    await writeFile(finishedPath(path, 4), lines.slice(3, 5).join(''));
    await writeFile(path, lines.slice(5).join(''));
    for (const limit of [1, 2, 3, 4, 6, 7, 9]) {
      expect(await Array.fromAsync(tail({ limit }))).toStrictEqual(parsed(lines.slice(-limit)));
    }
  });

  it('reports a missing log', async () => {
    const error = await Array.fromAsync(tail()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AuditLogError);
    expect((error as AuditLogError).message).toContain(
      `The audit log ${path} cannot be read: ENOENT`,
    );
  });
});

describe('tailLines that follow', () => {
  it('continue with new lines, also in the middle of a line', async () => {
    const lines = linesOf(4);
    await writeFile(path, lines.slice(0, 2).join('') + lines[2]!.slice(0, 30));
    const following = tail({ limit: 1, follow: true });
    expect((await following.next()).value).toStrictEqual(tailed(lines[1]!));
    const next = following.next();
    await clock.waiting();
    await appendFile(path, lines[2]!.slice(30) + lines[3]!);
    clock.tick();
    expect((await next).value).toStrictEqual(tailed(lines[2]!));
    expect((await following.next()).value).toStrictEqual(tailed(lines[3]!));
    await following.return(undefined);
  });

  it('continue with lines longer than a block', async () => {
    await writeFile(path, '');
    const fields = { long: Array.from({ length: 20 }, (_, index) => `${index}`.repeat(9000)) };
    const { lines } = logOf([{ event: 'x', ts: '2026-07-01T09:00:00.000Z', fields }, ...events(1)]);
    const following = tail({ follow: true });
    const next = following.next();
    await clock.waiting();
    await appendFile(path, lines.join(''));
    clock.tick();
    expect((await next).value).toStrictEqual(tailed(lines[0]!));
    expect((await following.next()).value).toStrictEqual(tailed(lines[1]!));
    await following.return(undefined);
  });

  it('show only new events that match and are not too long', async () => {
    await writeFile(path, '');
    const following = tail({ follow: true, task: 'mine' });
    const next = following.next();
    await clock.waiting();
    await appendFile(path, linesOf(3, 'other').join('') + long + linesOf(1, 'mine').join(''));
    clock.tick();
    expect((await next).value).toMatchObject({ event: { task_id: 'mine', seq: 1 } });
    await following.return(undefined);
  });

  it('wait for a log that does not exist yet', async () => {
    const lines = linesOf(1);
    const following = tail({ follow: true });
    const next = following.next();
    await clock.waiting();
    clock.tick();
    await clock.waiting();
    await writeFile(path, lines.join(''));
    clock.tick();
    expect((await next).value).toStrictEqual(tailed(lines[0]!));
    await following.return(undefined);
  });

  it('read a rotated log to its end and then the new one', async () => {
    const lines = linesOf(4);
    await writeFile(path, lines[0]!);
    const following = tail({ follow: true, limit: 0 });
    const next = following.next();
    await clock.waiting();
    await appendFile(path, lines[1]!);
    await rename(path, `${path}.1`);
    await writeFile(path, lines[2]!);
    clock.tick();
    expect((await next).value).toStrictEqual(tailed(lines[1]!));
    expect((await following.next()).value).toStrictEqual(tailed(lines[2]!));
    const last = following.next();
    await clock.waiting();
    await appendFile(path, lines[3]!);
    clock.tick();
    expect((await last).value).toStrictEqual(tailed(lines[3]!));
    await following.return(undefined);
  });

  it('lose and repeat nothing at several rotations between two reads', async () => {
    const lines = linesOf(9);
    await writeFile(path, lines[0]!);
    const following = tail({ follow: true, limit: 0 });
    const next = following.next();
    await clock.waiting();
    for (const first of [1, 3, 5]) {
      await appendFile(path, lines[first]!);
      await rename(path, finishedPath(path, first));
      await writeFile(path, lines[first + 1]!);
    }
    clock.tick();
    expect((await next).value).toStrictEqual(tailed(lines[1]!));
    for (const line of lines.slice(2, 7)) {
      expect((await following.next()).value).toStrictEqual(tailed(line));
    }
    const last = following.next();
    await clock.waiting();
    await appendFile(path, lines[7]!);
    clock.tick();
    expect((await last).value).toStrictEqual(tailed(lines[7]!));
    await following.return(undefined);
  });

  it('wait while a rotated log has no successor yet', async () => {
    const lines = linesOf(2);
    await writeFile(path, lines[0]!);
    const following = tail({ follow: true, limit: 0 });
    const next = following.next();
    await clock.waiting();
    await rename(path, finishedPath(path, 1));
    clock.tick();
    await clock.waiting();
    await writeFile(path, lines[1]!);
    clock.tick();
    expect((await next).value).toStrictEqual(tailed(lines[1]!));
    await following.return(undefined);
  });

  it('read a truncated log from its start', async () => {
    const lines = linesOf(3);
    await writeFile(path, lines.join(''));
    const following = tail({ follow: true, limit: 0 });
    const next = following.next();
    await clock.waiting();
    await truncate(path);
    await appendFile(path, lines[2]!);
    clock.tick();
    expect((await next).value).toStrictEqual(tailed(lines[2]!));
    await following.return(undefined);
  });

  it('leave no listener on the signal', async () => {
    const lines = linesOf(1);
    const { signal } = new AbortController();
    const following = tail({ follow: true, signal });
    const next = following.next();
    await clock.waiting();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await writeFile(path, lines.join(''));
    clock.tick();
    expect((await next).value).toStrictEqual(tailed(lines[0]!));
    expect([getEventListeners(signal, 'abort'), clock.isWaiting]).toEqual([[], false]);
    await following.return(undefined);
  });

  it('end on an abort, during a wait or before', async () => {
    await writeFile(path, linesOf(1).join(''));
    const aborting = new AbortController();
    const following = tail({ follow: true, limit: 0, signal: aborting.signal });
    const next = following.next();
    await clock.waiting();
    aborting.abort();
    expect(await next).toStrictEqual({ done: true, value: undefined });
    expect(clock.isWaiting).toBe(false);
    const aborted = tail({ follow: true, signal: AbortSignal.abort() });
    expect(await Array.fromAsync(aborted)).toHaveLength(1);
  });
});
