import { renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { schemaSteps } from '../../src/actors/records/sqlite/schema-steps.ts';

/** Turns a closed store, or a copy of one, into what an earlier version of the store would have written. */
export function makeOlder(path: string, version: number): void {
  const old = new DatabaseSync(`${path}.old`);
  old.exec(`${schemaSteps.slice(0, version).join('')} PRAGMA user_version = ${version}`);
  old.prepare('ATTACH ? AS present').run(path);
  for (const table of ['tasks', 'audit_head', 'audit_outbox']) {
    const columns = old
      .prepare('SELECT name FROM pragma_table_info(?)')
      .all(table)
      .map(({ name }) => String(name))
      .join(', ');
    old.exec(`INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM present.${table}`);
  }
  if (version < 3) {
    old.exec(`UPDATE main.tasks SET task = json_set(task,
      '$.history', json(contents -> '$.history'), '$.answer', json(contents -> '$.answer'))
      FROM (SELECT id AS present, contents FROM present.tasks) WHERE id = present`);
  }
  old.close();
  for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
  renameSync(`${path}.old`, path);
}
