import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it } from 'vitest';
import { buildPage } from '../../helpers/built-page.ts';

const built = join(import.meta.dirname, '../../../dist/ui/dashboard');

beforeAll(buildPage);

/** Compressed bytes of the files. */
function size(files: Iterable<string>): number {
  return [...files].reduce(
    (sum, file) => sum + gzipSync(readFileSync(join(built, file))).length,
    0,
  );
}

it('the first view has at most 70 KB of script, and all views have at most 13.5 KB of style', () => {
  const html = readFileSync(join(built, 'index.html'), 'utf8');
  const linked = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, file = '']) => file);
  const scripts = linked.filter((file) => file.endsWith('.js'));
  // What asks first, and all that it loads before a view.
  expect(scripts.map((file) => /assets\/(\w+)-/.exec(file)?.[1])).toEqual(['main', 'begin']);
  expect(size(scripts)).toBeLessThanOrEqual(70 * 1_024);
  const styles = linked.filter((file) => file.endsWith('.css'));
  expect(styles).toHaveLength(1);
  expect(size(styles)).toBeLessThanOrEqual(13.5 * 1_024);
});
