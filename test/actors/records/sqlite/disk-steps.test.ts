import fs, { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../helpers/test-system.ts';
import { hearDisk } from './disk-steps.ts';

/** The mode of a file is what these tests change. */
function aFile(): string {
  const path = join(temporaryFolder(), 'file');
  writeFileSync(path, '');
  return path;
}

/** A listener, and the steps it heard of. */
function listener() {
  const steps: [number: number, name: string][] = [];
  const end = hearDisk(({ number, name }) => steps.push([number, name]));
  onTestFinished(end);
  return { steps, end };
}

it('a listener gets no disk steps after its end, not even of a stored function', () => {
  const path = aFile();
  const { steps, end } = listener();
  const kept = fs.chmodSync;
  kept(path, 0o600);
  end();
  kept(path, 0o640);
  const later = listener();
  kept(path, 0o644);
  expect([steps, later.steps]).toEqual([[[1, 'chmodSync']], []]);
  expect(fs.statSync(path).mode & 0o777).toBe(0o644);
});

it('a later listener continues when the first one ends, and then restores everything', () => {
  const path = aFile();
  const genuine = [fs.chmodSync, DatabaseSync.prototype.exec];
  const first = listener();
  const second = listener();
  chmodSync(path, 0o600);
  first.end();
  first.end();
  chmodSync(path, 0o600);
  second.end();
  chmodSync(path, 0o600);
  expect([first.steps, second.steps]).toEqual([
    [[1, 'chmodSync']],
    [
      [1, 'chmodSync'],
      [2, 'chmodSync'],
    ],
  ]);
  expect([fs.chmodSync, DatabaseSync.prototype.exec]).toEqual(genuine);
});

it('a listener does not get its own disk steps, also after one that throws', () => {
  const path = aFile();
  const names: string[] = [];
  const end = hearDisk(({ name }) => {
    names.push(name);
    chmodSync(path, 0o640);
    throw new Error('EIO: no luck');
  });
  onTestFinished(end);
  expect(() => chmodSync(path, 0o600)).toThrow('EIO: no luck');
  expect(() => fs.rmSync(path)).toThrow('EIO: no luck');
  expect(names).toEqual(['chmodSync', 'rmSync']);
  expect(fs.statSync(path).mode & 0o777).toBe(0o640);
});
