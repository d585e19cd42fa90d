import { expect, it } from 'vitest';
import { holdChecks } from '../../packages/testing/holds/holds.ts';
import { readPage } from './fences.ts';

it('the comparison of holds has the result of every check', () => {
  const rows = [...readPage('docs/holds-compared.md').matchAll(/^\| ([^|*]+) \| [✓✗–]/gm)];
  expect(rows.map(([, title]) => title)).toEqual(holdChecks.map(({ title }) => title));
});
