import { DatabaseSync } from 'node:sqlite';
import { damagedStore, isDamage, StoreError } from '../store/store-error.ts';
import { checkPages } from './database.ts';

/** Checks the pages of a store in use; returns the fault, or `null`. */
export function findDamage(path: string): string | null {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    checkPages(path, database);
    return null;
  } catch (error) {
    if (error instanceof StoreError) return error.message;
    if (isDamage(error)) return damagedStore(path, error).message;
    throw error;
  } finally {
    database.close();
  }
}
