import { openDatabase } from './open_database.mjs';
import { run } from './run.mjs';

await run(({ file }) => {
  const database = openDatabase(file);
  const tables = database
    .prepare(
      "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name LIMIT 200",
    )
    .all();
  const columns = database.prepare('SELECT name, type FROM pragma_table_xinfo(?)');
  return {
    file,
    tables: tables.map(({ name, type }) => ({
      ...{ name, kind: type },
      columns: columns.all(name).map((column) => `${column.name} ${column.type}`.trim()),
    })),
  };
});
