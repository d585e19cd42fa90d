import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  beginTransaction,
  inTransaction,
} from '../../../../src/actors/records/sqlite/in-transaction.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';

/** Two connections to one file, the first of which is to write. */
function twoConnections(): [DatabaseSync, DatabaseSync] {
  const path = `${temporaryFolder()}/rows.db`;
  const open = (): DatabaseSync => {
    const database = new DatabaseSync(path, { timeout: 0 });
    onTestFinished(() => database.close());
    return database;
  };
  const first = open();
  first.exec('CREATE TABLE kept (name TEXT NOT NULL)');
  return [first, open()];
}

function keep(database: DatabaseSync, name: string): void {
  database.prepare('INSERT INTO kept VALUES (?)').run(name);
}

function namesIn(database: DatabaseSync): unknown[] {
  return database
    .prepare('SELECT name FROM kept')
    .all()
    .map(({ name }) => name);
}

const broken = new Error('the disk is full');

describe('a transaction', () => {
  it('commits all writes', () => {
    const [database, other] = twoConnections();
    inTransaction(database, () => ['a', 'b'].forEach((name) => keep(database, name)));
    expect(namesIn(other)).toEqual(['a', 'b']);
  });

  it('blocks other writers while it runs', () => {
    const [database, other] = twoConnections();
    const told = () => inTransaction(other, () => keep(other, 'b'));
    inTransaction(database, () => {
      keep(database, 'a');
      expect(told).toThrow('database is locked');
    });
    told();
    expect(namesIn(database)).toEqual(['a', 'b']);
  });

  it('leaves nothing when it fails', () => {
    const [database, other] = twoConnections();
    const run = () => {
      keep(database, 'a');
      throw broken;
    };
    expect(() => inTransaction(database, run)).toThrow(broken);
    inTransaction(other, () => keep(other, 'b'));
    expect(namesIn(database)).toEqual(['b']);
  });

  it('leaves nothing when the failure itself ended it', () => {
    const [database] = twoConnections();
    const run = () => {
      keep(database, 'a');
      database.exec('ROLLBACK');
      throw broken;
    };
    expect(() => inTransaction(database, run)).toThrow(broken);
    expect([database.isTransaction, namesIn(database)]).toEqual([false, []]);
  });

  it('with asynchronous work is rolled back or committed by its owner', () => {
    const [database, other] = twoConnections();
    const given = beginTransaction(database);
    keep(database, 'a');
    given.abandon();
    const kept = beginTransaction(other);
    keep(other, 'b');
    kept.commit();
    kept.abandon();
    expect(namesIn(database)).toEqual(['b']);
  });
});
