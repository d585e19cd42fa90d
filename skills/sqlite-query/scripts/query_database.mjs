import { openDatabase, shown } from './open_database.mjs';
import { run } from './run.mjs';

/** Characters of an answer. */
const longest = 500_000;

await run(({ file, sql, values = [], limit = 100 }) => {
  if (!/^\s*(?:select|with|values)\b/i.test(sql)) {
    throw new Error('only a SELECT is run; begin the query with SELECT or WITH');
  }
  const statement = openDatabase(file).prepare(sql);
  statement.setReadBigInts(true);
  const rows = [];
  let size = 0;
  let more = false;
  for (const row of statement.iterate(...values)) {
    const line = Object.fromEntries(Object.entries(row).map(([key, value]) => [key, shown(value)]));
    size += JSON.stringify(line).length;
    more = rows.length === limit || size > longest;
    if (more) break;
    rows.push(line);
  }
  return { rows, more };
});
