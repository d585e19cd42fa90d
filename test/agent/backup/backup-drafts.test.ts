import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { draftFile, draftFolder } from '../../../src/agent/backup/backup-drafts.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

/** No process has this id: Linux gives out lower ones. */
const dead = 2 ** 22 + 1;
const now = Date.now();
const [old, recent] = [new Date(now - 3_600_000), new Date(now - 1_000)];

function made(folder: string, name: string, time: Date): void {
  writeFileSync(join(folder, name), '');
  utimesSync(join(folder, name), time, time);
}

it('unfinished backups of killed processes are removed, and no other file', () => {
  const folder = temporaryFolder();
  const name = 'till-20260101T000000Z.tar.gz';
  const gone = [
    `${name}.partial-${dead}`,
    `${name}.store-${dead}`,
    `mine.partial-${dead}`,
    `mine.partial-${process.pid}`,
  ];
  for (const each of gone) made(folder, each, old);
  const kept = [
    name,
    `${name}.partial-${process.ppid}`,
    `till-eu-20260101T000000Z.tar.gz.partial-${dead}`,
    `notes.partial-${dead}`,
    `till-20260102T000000Z.tar.gz.partial-0`,
  ];
  for (const each of kept) made(folder, each, old);
  made(folder, `till-20260103T000000Z.tar.gz.partial-${dead}`, recent);

  const draft = draftFile(join(folder, 'mine'), 'till', now);

  expect(draft).toBe(join(folder, `mine.partial-${process.pid}`));
  expect(readdirSync(folder).toSorted()).toEqual(
    [...kept, `till-20260103T000000Z.tar.gz.partial-${dead}`].toSorted(),
  );
});

it('the draft folder belongs to its owner only, and those of killed processes are removed', () => {
  const directory = temporaryFolder();
  const state = join(directory, '.service');
  for (const name of [`backing-up-${dead}-abcdef`, `backing-up-${process.ppid}-abcdef`]) {
    mkdirSync(join(state, name), { recursive: true });
    made(join(state, name), 'tasks.db', old);
    utimesSync(join(state, name), old, old);
  }

  const folder = draftFolder(directory, now);

  expect(readdirSync(state).toSorted()).toEqual(
    [`backing-up-${process.ppid}-abcdef`, basename(folder)].toSorted(),
  );
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});
