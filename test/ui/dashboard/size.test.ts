import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it } from 'vitest';
import { buildPage } from '../../helpers/built-page.ts';

interface Chunk {
  file: string;
  imports?: string[];
}

interface Manifest {
  [name: string]: Chunk;
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

/** A chunk with all that is loaded with it. */
function chunksWith(manifest: Manifest, name: string): Chunk[] {
  const names = new Set([name]);
  // A set visits what is added while it is walked.
  for (const one of names) for (const other of manifest[one]?.imports ?? []) names.add(other);
  return [...names].map((one) => manifest[one]!);
}

it('is 70 KB of script before its first view and 12 KB of style with all of them, at most', () => {
  const manifest = JSON.parse(readFileSync(join(built, 'manifest.json'), 'utf8')) as Manifest;
  const entry = chunksWith(manifest, 'index.html');
  expect(size(new Set(entry.map(({ file }) => file)))).toBeLessThanOrEqual(70 * 1_024);
  const styles = Object.values(manifest)
    .map(({ file }) => file)
    .filter((file) => file.endsWith('.css'));
  expect(styles).toHaveLength(1);
  expect(size(styles)).toBeLessThanOrEqual(12 * 1_024);
});
