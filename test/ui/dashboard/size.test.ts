import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it } from 'vitest';
import { buildPage } from '../../helpers/page-server.ts';

interface Chunk {
  file: string;
  css?: string[];
  imports?: string[];
}

const built = join(import.meta.dirname, '../../../dist/ui/dashboard');

beforeAll(buildPage);

/** Compressed bytes of the files. */
function size(files: Iterable<string>): number {
  return [...files].reduce(
    (sum, file) => sum + gzipSync(readFileSync(join(built, file))).length,
    0,
  );
}

it('is 70 KB of script and 15 KB of style before its first view, at most', () => {
  const manifest = JSON.parse(readFileSync(join(built, 'manifest.json'), 'utf8')) as {
    [name: string]: Chunk;
  };
  const names = new Set(['index.html']);
  // A set visits what is added while it is walked.
  for (const name of names) for (const other of manifest[name]?.imports ?? []) names.add(other);
  const chunks = [...names].map((name) => manifest[name]!);
  expect(size(new Set(chunks.map(({ file }) => file)))).toBeLessThanOrEqual(70 * 1_024);
  const styles = Object.values(manifest).flatMap(({ css = [] }) => css);
  expect(size(new Set(styles))).toBeLessThanOrEqual(15 * 1_024);
});
