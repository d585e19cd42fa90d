import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RotatedLog } from '../../../src/actors/process/rotated-log.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';
import { type DiskStep, hearDisk } from '../records/sqlite/disk-steps.ts';

/** A log of files that are full after three lines of nine bytes. */
function logOfLines() {
  const directory = temporaryFolder();
  const path = join(directory, 'serve.log');
  const log = new RotatedLog(path, 27);
  let count = 0;
  return {
    path,
    log,
    write(lines: number) {
      for (let line = 0; line < lines; line += 1) {
        count += 1;
        log.write(`line ${String(count).padStart(3, '0')}\n`);
      }
    },
    files: () =>
      Object.fromEntries(
        readdirSync(directory)
          .toSorted()
          .map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
      ),
  };
}

const lines = (...numbers: number[]) =>
  numbers.map((number) => `line ${String(number).padStart(3, '0')}\n`).join('');

it('a full log is renamed, and five are kept, each line in one file', () => {
  const { write, files, path } = logOfLines();
  write(20);
  expect(files()).toEqual({
    'serve.log': lines(19, 20),
    'serve.log.1': lines(16, 17, 18),
    'serve.log.2': lines(13, 14, 15),
    'serve.log.3': lines(10, 11, 12),
    'serve.log.4': lines(7, 8, 9),
    'serve.log.5': lines(4, 5, 6),
  });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('a renamed log is never written again, so a reader by inode gets each line once', () => {
  const { write, path } = logOfLines();
  write(3);
  const { ino } = statSync(path);
  write(1);
  expect(statSync(`${path}.1`).ino).toBe(ino);
  write(2);
  expect(readFileSync(`${path}.1`, 'utf8')).toBe(lines(1, 2, 3));
});

it('the log of an earlier process is continued, and rotated when it is full', () => {
  const { path } = logOfLines();
  writeFileSync(path, lines(1, 2, 3));
  new RotatedLog(path, 27).write('new\n');
  expect([readFileSync(path, 'utf8'), readFileSync(`${path}.1`, 'utf8')]).toEqual([
    'new\n',
    lines(1, 2, 3),
  ]);
});

/** Has the disk refuse steps until the test or its caller ends it. */
function refusing(refuse: (step: DiskStep) => boolean): () => void {
  const end = hearDisk((step) => {
    if (refuse(step)) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  });
  onTestFinished(end);
  return end;
}

it('lines are dropped while the disk is full, and then counted after the torn one', () => {
  const { write, path } = logOfLines();
  write(1);
  let isFirst = true;
  const free = refusing(({ name, writeHalf }) => {
    if (name !== 'writeSync') return false;
    if (isFirst) writeHalf();
    isFirst = false;
    return true;
  });
  write(2);
  free();
  write(1);
  const [first, torn, notice, last] = readFileSync(path, 'utf8').split('\n');
  expect([first, torn, last]).toEqual(['line 001', 'line', 'line 004']);
  expect(JSON.parse(notice!)).toEqual({
    level: 'warn',
    time: expect.any(String),
    dropped: 2,
    msg: 'log: lines were dropped, because the disk accepted none',
  });
});

it.each(['renameSync', 'openSync'])(
  'no line is lost when the disk refuses %s during a rotation',
  (refused) => {
    const { write, files } = logOfLines();
    write(3);
    const free = refusing(({ name }) => name === refused);
    write(2);
    free();
    write(2);
    const all = Object.entries(files()).toSorted(([one], [other]) => (one < other ? 1 : -1));
    expect(all.map(([, text]) => text).join('')).toBe(lines(1, 2, 3, 4, 5, 6, 7));
    expect(Object.keys(files())).toEqual(['serve.log', 'serve.log.1']);
  },
);
