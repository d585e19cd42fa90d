import { appendFileSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { followServeLog } from '../../../src/actors/workspace/follow-serve-log.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const patience = { timeout: 30_000, interval: 10 };

/** Follows the log of a new folder that begins with `text`; `null` for none. */
function followed(text: string | null, count = 200) {
  const directory = temporaryFolder();
  mkdirSync(join(directory, '.service'));
  const path = join(directory, '.service/serve.log');
  if (text !== null) writeFileSync(path, text);
  const leaving = new AbortController();
  const lines: string[] = [];
  const ended = (async () => {
    const portions = followServeLog(directory, { count, signal: leaving.signal });
    for await (const portion of portions) lines.push(...portion);
  })();
  onTestFinished(async () => {
    leaving.abort();
    await ended;
  });
  const until = (wanted: string[]) => vi.waitFor(() => expect(lines).toEqual(wanted), patience);
  return { path, directory, until };
}

it('the log shows the last lines and then each new one, complete, for any writes', async () => {
  const { path, until } = followed('one\ntwo\nthree\n', 2);
  await until(['two', 'three']);
  appendFileSync(path, 'fo');
  appendFileSync(path, Buffer.from('ur \u00e4').subarray(0, 4));
  appendFileSync(path, Buffer.from('ur \u00e4\nfive\n').subarray(4));
  await until(['two', 'three', 'four \u00e4', 'five']);
});

it('the log may not exist yet', async () => {
  const { path, until } = followed(null);
  writeFileSync(path, 'one\n');
  await until(['one']);
});

it('a truncated log is read from its beginning', async () => {
  const { path, until } = followed('one\ntwo\n');
  await until(['one', 'two']);
  writeFileSync(path, 'new\n');
  await until(['one', 'two', 'new']);
});

it('a rotated log is read to its end, and then the new one', async () => {
  const { path, until } = followed('one\n');
  await until(['one']);
  appendFileSync(path, 'two\nthree');
  renameSync(path, `${path}.1`);
  writeFileSync(path, 'four\n');
  await until(['one', 'two', 'three', 'four']);
});

it('the log contains no terminal control', async () => {
  const { until } = followed('a\u001b[31mred\u0007\n');
  await until(['ared\ufffd']);
});

it('the log is not read through a link, which could lead to files of its owner', async () => {
  const { path, directory, until } = followed(null);
  const other = join(directory, 'other');
  writeFileSync(other, 'secret of another\n');
  symlinkSync(other, path);
  writeFileSync(`${path}.new`, 'after\n');
  renameSync(`${path}.new`, path);
  await until(['after']);
});
