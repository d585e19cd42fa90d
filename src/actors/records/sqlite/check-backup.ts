import { breakSentence } from '../log/verdict.ts';
import { StoreError } from '../store/store-error.ts';
import { isContinued, type StoreAndLog } from './compare-log.ts';
import { checkPages } from './database.ts';
import { schemaFault } from './schema-fault.ts';
import { checkSource, openSource } from './source-store.ts';
import { verifyLogFiles } from './verify-log-files.ts';

/** Checks the store and the log of a backup, and that they belong together. Throws StoreError. */
export async function checkBackup(subject: StoreAndLog): Promise<void> {
  const { store, log, chain } = subject;
  checkSource(store, true);
  const database = openSource(store);
  try {
    const fault = schemaFault(database);
    if (fault !== null) {
      throw new StoreError(
        `the store of the backup ${fault}; nothing was restored, so use another backup`,
      );
    }
    checkPages(store, database);
  } finally {
    database.close();
  }
  const verdict = chain ? (await verifyLogFiles(log)).verdict : null;
  if (verdict?.ok === false) throw new StoreError(breakSentence(verdict));
  await isContinued(subject);
}
