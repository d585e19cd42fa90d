import { parseArgs } from 'node:util';
import { charts } from './statecharts/charts.ts';
import { drawPages, stalePages, writePages } from './statecharts/pages.ts';

const { values } = parseArgs({
  options: { check: { type: 'boolean', default: false }, out: { type: 'string' } },
});
const folder = values.out ?? `${import.meta.dirname}/../docs/statecharts`;
const pages = drawPages(charts);

if (values.check) {
  for (const name of stalePages(folder, pages)) {
    console.error(`docs/statecharts/${name} is stale; run npm run statecharts and commit it`);
    process.exitCode = 1;
  }
} else {
  writePages(folder, pages);
}
