import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { StateCounts } from '../../../../src/actors/records/sqlite/state-counts.ts';
import { type TaskState, taskStates } from '../../../../src/machines/domain/task.ts';

const id = fc.integer({ min: 0, max: 8 });
const change = fc.record({ id, to: fc.constantFrom(null, ...taskStates) });

it('state counts match the tasks, after every change and every rollback', () => {
  const story = fc.array(fc.record({ changes: fc.array(change), isUndone: fc.boolean() }));
  fc.assert(
    fc.property(story, fc.nat(3), (steps, first) => {
      const database = new DatabaseSync(':memory:');
      database.exec('CREATE TABLE tasks (id INTEGER PRIMARY KEY, state TEXT NOT NULL)');
      const counts = new StateCounts(database);
      const stateOf = database.prepare('SELECT state FROM tasks WHERE id = ?');
      for (const [index, { changes, isUndone }] of steps.entries()) {
        if (index === first) counts.now();
        database.exec('BEGIN');
        for (const { id, to } of changes) {
          counts.move((stateOf.get(id)?.['state'] ?? null) as TaskState | null, to);
          if (to === null) database.prepare('DELETE FROM tasks WHERE id = ?').run(id);
          else database.prepare('INSERT OR REPLACE INTO tasks VALUES (?, ?)').run(id, to);
        }
        database.exec(isUndone ? 'ROLLBACK' : 'COMMIT');
        if (isUndone) counts.rollBack();
        else counts.commit();
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
