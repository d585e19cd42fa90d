import { parseArgs } from 'node:util';
import { drawLayouts, staleLayouts, writeLayouts } from './charts-layout/layouts.ts';
import { charts } from './statecharts/charts.ts';
import { drawPages, stalePages, writePages } from './statecharts/pages.ts';

const { values } = parseArgs({
  options: { check: { type: 'boolean', default: false }, out: { type: 'string' } },
});
const root = `${import.meta.dirname}/..`;
const folder = values.out ?? `${root}/docs/statecharts`;
const pages = drawPages(charts);
const layouts = drawLayouts();

if (values.check) {
  const stale = stalePages(folder, pages).map((name) => `docs/statecharts/${name}`);
  for (const name of [...stale, ...staleLayouts(root, layouts)]) {
    console.error(`${name} is stale; run npm run statecharts and commit it`);
    process.exitCode = 1;
  }
} else {
  writePages(folder, pages);
  if (values.out === undefined) writeLayouts(root, layouts);
}
