import { cpSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { checkLog } from '../../../src/cli/doctor/check-log.ts';
import { anEvent } from '../../helpers/stored-tasks.ts';
import { copyFiles, openStore, storeFiles, temporaryFolder } from '../../helpers/test-system.ts';

const agree = { status: 'pass', message: 'task store and audit log agree' };

function subjectIn(directory: string) {
  const { path, audit } = storeFiles(directory);
  return { store: path, log: audit.path, chain: true };
}

/** A store with two events, the files of it when it had one, and those that a kill would leave now. */
async function twoEvents() {
  const directory = temporaryFolder();
  const store = await openStore(directory);
  onTestFinished(() => store.close());
  await store.record([anEvent('t-1', 1)]);
  const older = copyFiles(directory);
  await store.record([anEvent('t-1', 2)]);
  return { directory, store, older, killed: copyFiles(directory) };
}

it('doctor accepts a store and a log that agree, are missing, or are being written', async () => {
  const { directory, store, killed } = await twoEvents();
  expect(await checkLog(subjectIn(temporaryFolder()))).toEqual(agree);
  expect(await checkLog(subjectIn(killed))).toEqual(agree);
  const checks = [1, 2, 3, 4].map(() => checkLog(subjectIn(directory)));
  for (let seq = 3; seq < 30; seq += 1) await store.record([anEvent('t-1', seq)]);
  expect(await Promise.all(checks)).toEqual([agree, agree, agree, agree]);
});

it('doctor fails a store that is older than its log, as the next start would, and changes nothing', async () => {
  const { older, killed } = await twoEvents();
  const { store, log } = subjectIn(older);
  cpSync(subjectIn(killed).log, log);
  const before = readFileSync(log);
  const files = readdirSync(older);
  expect(await checkLog(subjectIn(older))).toEqual({
    status: 'fail',
    message: `the task store ${store} is older than its audit log: ${log} holds 1 event that it does not know; restore the newest copy of the store, or start once with holdpoint run --keep-log, which keeps them and ends the tasks they name`,
    fix: 'restore the newest copy of the task store, together with its -wal file',
  });
  expect(readFileSync(log)).toEqual(before);
  expect(readdirSync(older).filter((name) => name.includes('torn'))).toEqual([]);
  expect(files).toContain('audit.ndjson');
});

it('doctor fails a lost store, and a log that lost lines', async () => {
  const { killed } = await twoEvents();
  const { store, log } = subjectIn(killed);
  const message = `the audit log ${log} exists and its task store ${store} is lost: the next start abandons what waits in it`;
  for (const name of ['tasks.db', 'tasks.db-wal']) rmSync(join(killed, name), { force: true });
  rmSync(`${store}-shm`, { force: true });
  expect(await checkLog(subjectIn(killed))).toMatchObject({ status: 'fail', message });
  const clean = temporaryFolder();
  const again = await openStore(clean);
  await again.record([anEvent('t-1', 1)]);
  await again.close();
  truncateSync(subjectIn(clean).log, 10);
  expect(await checkLog(subjectIn(clean))).toMatchObject({
    status: 'fail',
    message: expect.stringContaining('has 10 bytes but '),
  });
});
