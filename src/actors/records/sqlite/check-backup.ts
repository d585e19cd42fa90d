import { finishedFilesOf, logFilesOf } from '../log/log-files.ts';
import { breakSentence } from '../log/verdict.ts';
import { verifyFiles } from '../log/verify-files.ts';
import { StoreError } from '../store/store-error.ts';
import { isContinued, type StoreAndLog } from './compare-log.ts';
import { checkPages } from './database.ts';
import { hashBefore } from './import-log.ts';
import { checkSource, openSource } from './source-store.ts';

/** Checks the store and the log of a backup, and that they belong together. Throws StoreError. */
export async function checkBackup(subject: StoreAndLog): Promise<void> {
  const { store, log, chain } = subject;
  checkSource(store, true);
  const database = openSource(store);
  try {
    checkPages(store, database);
  } finally {
    database.close();
  }
  const files = logFilesOf(log);
  const first = finishedFilesOf(log)[0]?.first ?? 1;
  const [oldest] = files;
  if (chain && oldest !== undefined) {
    const from = first === 1 ? {} : { continuedFrom: await hashBefore(oldest, first) };
    const verdict = await verifyFiles(files, from);
    if (!verdict.ok) throw new StoreError(breakSentence(verdict));
  }
  await isContinued(subject);
}
