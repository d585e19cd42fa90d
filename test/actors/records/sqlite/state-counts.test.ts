import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { StateCounts } from '../../../../src/actors/records/sqlite/state-counts.ts';
import { taskStates } from '../../../../src/machines/domain/task.ts';

const state = fc.constantFrom(...taskStates);
const id = fc.integer({ min: 0, max: 8 });
const change = fc.oneof(
  fc.record({ sql: fc.constant('INSERT OR IGNORE INTO tasks VALUES (?2, ?1)'), id, state }),
  fc.record({ sql: fc.constant('UPDATE tasks SET state = ?1 WHERE id = ?2'), id, state }),
  fc.record({ sql: fc.constant('DELETE FROM tasks WHERE id = ?2 AND ?1 <> 0'), id, state }),
);

it('state counts match the tasks, after every change and every rollback', () => {
  const story = fc.array(fc.record({ changes: fc.array(change), isUndone: fc.boolean() }));
  fc.assert(
    fc.property(story, fc.nat(3), (steps, first) => {
      const database = new DatabaseSync(':memory:');
      database.exec('CREATE TABLE tasks (id INTEGER PRIMARY KEY, state TEXT NOT NULL)');
      const counts = new StateCounts(database);
      for (const [index, { changes, isUndone }] of steps.entries()) {
        if (index === first) counts.now();
        database.exec('BEGIN');
        for (const one of changes) database.prepare(one.sql).run(one.state, one.id);
        database.exec(isUndone ? 'ROLLBACK' : 'COMMIT');
      }
      const read = database.prepare('SELECT state, count(*) AS tasks FROM tasks GROUP BY state');
      const expected = Object.fromEntries(
        read.all().map((row) => [String(row['state']), Number(row['tasks'])]),
      );
      expect(counts.now()).toEqual(expected);
      database.close();
    }),
  );
});
