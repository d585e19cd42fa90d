import { DatabaseSync } from 'node:sqlite';
import { schemaSteps } from '../../src/actors/records/sqlite/store-schema.ts';

/** The tables of a new store, in memory. */
export function emptyTables(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec(schemaSteps.join(''));
  return database;
}
