import type { DatabaseSync } from 'node:sqlite';

/** Runs `run` under the write lock of a database and commits. When either throws, nothing is stored and the error is rethrown. */
export function inTransaction(database: DatabaseSync, run: () => void): void {
  const transaction = beginTransaction(database);
  try {
    run();
    transaction.commit();
  } catch (error) {
    transaction.abandon();
    throw error;
  }
}

/** An open transaction. Nothing else may use the connection until its owner ends it. */
interface Transaction {
  commit(): void;
  /** Rolls back; does nothing after the commit or a failure that ended the transaction. */
  abandon(): void;
}

/** Acquires the write lock of a database. */
export function beginTransaction(database: DatabaseSync): Transaction {
  database.exec('BEGIN IMMEDIATE');
  return {
    commit: () => database.exec('COMMIT'),
    abandon: () => {
      if (database.isTransaction) database.exec('ROLLBACK');
    },
  };
}
