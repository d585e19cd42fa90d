import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { configurationPage } from './configuration/page.ts';

const { values } = parseArgs({
  options: { check: { type: 'boolean', default: false }, out: { type: 'string' } },
});
const file = values.out ?? `${import.meta.dirname}/../docs/configuration.md`;
const page = configurationPage();

if (!values.check) writeFileSync(file, page);
else if (readFileSync(file, 'utf8') !== page) {
  console.error('docs/configuration.md is stale; run npm run configuration and commit it');
  process.exitCode = 1;
}
