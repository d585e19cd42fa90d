import type { DatabaseSync } from 'node:sqlite';

/**
 * Puts right what a failed transaction left outside its database, such as lines in a log. Called under the write
 * lock; `isOver` says that the failure ended the transaction itself and the lock had to be taken again.
 */
type Undo = (isOver: boolean) => void;

/**
 * Runs `run` under the write lock of a database and commits what it wrote; when `run` or the commit throws, nothing of
 * it stays and the error is thrown on. `undo` is left out when the lock cannot be had again, since what it would mend
 * may be another process's by then.
 */
export function inTransaction(database: DatabaseSync, run: () => void, undo?: Undo): void {
  const transaction = beginTransaction(database);
  try {
    run();
    transaction.commit();
  } catch (error) {
    transaction.abandon(undo);
    throw error;
  }
}

/** A transaction that its owner ends: for work that waits, while which nothing else may use the connection. */
interface Transaction {
  commit(): void;
  /** Rolls back, unless it is committed. */
  abandon(undo?: Undo): void;
}

/** Takes the write lock of a database. */
export function beginTransaction(database: DatabaseSync): Transaction {
  database.exec('BEGIN IMMEDIATE');
  return {
    commit: () => database.exec('COMMIT'),
    abandon: (undo) => abandon(database, undo),
  };
}

function abandon(database: DatabaseSync, undo?: Undo): void {
  // Some failures end the transaction, and with it the lock.
  const isOver = !database.isTransaction;
  if (isOver && (undo === undefined || !locksAgain(database))) return;
  try {
    undo?.(isOver);
  } finally {
    database.exec('ROLLBACK');
  }
}

function locksAgain(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN IMMEDIATE');
    return true;
  } catch {
    return false;
  }
}
