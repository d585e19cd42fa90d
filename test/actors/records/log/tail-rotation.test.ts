import { appendFileSync, linkSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { type TailOptions, tailLines } from '../../../../src/actors/records/log/audit.ts';
import { finishedPath } from '../../../../src/actors/records/log/log-files.ts';
import { pauseTail } from '../../../../src/actors/records/log/tail-lines.ts';
import { openFilesIn } from '../../../helpers/open-files.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';
import { events, logOf } from './log-of.ts';
import { ManualClock } from './manual-clock.ts';

const { lines } = logOf(events(6));
const seqs = (found: { event: unknown }[]) =>
  found.map(({ event }) => (event as { seq: number }).seq);

function tailIn(folder: string) {
  const path = join(folder, 'audit.ndjson');
  const clock = new ManualClock();
  const tail = (options: Partial<TailOptions> = {}) =>
    tailLines({ path, limit: 10, clock, ...options });
  return { path, clock, tail };
}

/** Does something at the moment in which a file has been read to its end. */
async function whenRead(path: string, act: () => void): Promise<void> {
  const handle = await open(path);
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  await handle.close();
  const { read } = prototype;
  let isDone = false;
  vi.spyOn(prototype, 'read').mockImplementation(async function (this: never, ...args: never[]) {
    const result = await Reflect.apply(read, this, args);
    if (result.bytesRead === 0 && !isDone) {
      isDone = true;
      act();
    }
    return result;
  } as never);
}

describe('the latest lines of a log', () => {
  it('are found once in a file that is rotated during the read', async () => {
    const { path, tail } = tailIn(temporaryFolder());
    writeFileSync(path, lines.slice(0, 2).join(''));
    linkSync(path, finishedPath(path, 1));
    expect(seqs(await Array.fromAsync(tail()))).toEqual([1, 2]);
  });

  it('are found after a removed file', async () => {
    const folder = temporaryFolder();
    const { path, tail } = tailIn(folder);
    writeFileSync(finishedPath(path, 1), lines[0]!);
    symlinkSync(join(folder, 'gone'), finishedPath(path, 2));
    writeFileSync(path, lines[2]!);
    expect(seqs(await Array.fromAsync(tail()))).toEqual([1, 3]);
  });

  it('include matching lines of older files', async () => {
    const { path, tail } = tailIn(temporaryFolder());
    const others = logOf(events(2, 'other')).lines;
    writeFileSync(finishedPath(path, 1), [lines[0], others[0], lines[1], others[1]].join(''));
    writeFileSync(path, others[0]!);
    expect(seqs(await Array.fromAsync(tail({ task: 't-1' })))).toEqual([1, 2]);
  });
});

describe('a followed log', () => {
  it('loses nothing written between the last read and the rotation', async () => {
    const { path, clock, tail } = tailIn(temporaryFolder());
    writeFileSync(path, lines[0]!);
    const following = tail({ follow: true, limit: 0 });
    const next = following.next();
    await clock.waiting();
    await whenRead(path, () => {
      appendFileSync(path, lines[1]!);
      renameSync(path, finishedPath(path, 1));
      writeFileSync(path, lines[2]!);
    });
    clock.tick();
    expect([(await next).value, (await following.next()).value]).toMatchObject([
      { event: { seq: 2 } },
      { event: { seq: 3 } },
    ]);
    await following.return(undefined);
  });

  it('continues with the file in its place when another program moved it', async () => {
    const folder = temporaryFolder();
    const { path, clock, tail } = tailIn(folder);
    writeFileSync(finishedPath(path, 1), lines[0]!);
    symlinkSync(join(folder, 'gone'), finishedPath(path, 2));
    writeFileSync(path, lines[1]!);
    const following = tail({ follow: true, limit: 0 });
    const next = following.next();
    await clock.waiting();
    renameSync(path, `${path}.1`);
    writeFileSync(path, lines[2]!);
    clock.tick();
    expect((await next).value).toMatchObject({ event: { seq: 3 } });
    await following.return(undefined);
    expect(openFilesIn(folder)).toEqual([]);
  });

  it('is aborted before it exists', async () => {
    const { clock, tail } = tailIn(temporaryFolder());
    const leaving = new AbortController();
    const next = tail({ follow: true, signal: leaving.signal }).next();
    await clock.waiting();
    leaving.abort();
    expect(await next).toStrictEqual({ done: true, value: undefined });
  });

  it('is not awaited after an earlier abort', async () => {
    const clock = new ManualClock();
    await pauseTail({ clock, limit: 0, signal: AbortSignal.abort() });
    expect(clock.isWaiting).toBe(false);
  });
});
