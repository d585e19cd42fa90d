// Writes docs/errors.md from the code: every refusal of HTTP, JSON-RPC and the command, and each error class.
// `npm run errors`; with `--check` it fails when the page is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { errorsPage } from './errors/page.ts';

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const file = `${import.meta.dirname}/../docs/errors.md`;
const page = errorsPage(`${import.meta.dirname}/..`);

if (!values.check) writeFileSync(file, page);
else if (readFileSync(file, 'utf8') !== page) {
  console.error('docs/errors.md is stale; run npm run errors and commit it');
  process.exitCode = 1;
}
