import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { filesWithSchema, schemaName } from '../src/actors/config/config.ts';
import { schemaText } from '../src/agent/create/write-schemas.ts';

/** Writes the JSON Schemas of the configuration files to `schema`, where their `$id` is. */
const { values } = parseArgs({
  options: { check: { type: 'boolean', default: false }, out: { type: 'string' } },
});
const folder = values.out ?? join(import.meta.dirname, '../schema');

if (!values.check) mkdirSync(folder, { recursive: true });
for (const file of filesWithSchema) {
  const path = join(folder, schemaName(file));
  if (!values.check) writeFileSync(path, schemaText(file));
  else if (readFileSync(path, 'utf8') !== schemaText(file)) {
    console.error(`schema/${schemaName(file)} is stale; run npm run schemas and commit it`);
    process.exitCode = 1;
  }
}
