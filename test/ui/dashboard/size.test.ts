import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it } from 'vitest';
import { buildPage } from '../../helpers/built-page.ts';

interface Chunk {
  file: string;
  css?: string[];
  imports?: string[];
  isDynamicEntry?: boolean;
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

function stylesOf(chunks: readonly Chunk[]): Set<string> {
  return new Set(chunks.flatMap(({ css = [] }) => css));
}

it('is 70 KB of script before its first view, 10 KB of style with any view and 24 KB with all of them, at most', () => {
  const manifest = JSON.parse(readFileSync(join(built, 'manifest.json'), 'utf8')) as Manifest;
  const entry = chunksWith(manifest, 'index.html');
  expect(size(new Set(entry.map(({ file }) => file)))).toBeLessThanOrEqual(70 * 1_024);
  const views = Object.keys(manifest).filter((name) => manifest[name]?.isDynamicEntry === true);
  expect(views.length).toBeGreaterThan(10);
  const heavy = views
    .map((name) => [name, size(stylesOf([...entry, ...chunksWith(manifest, name)]))] as const)
    .filter(([, bytes]) => bytes > 10 * 1_024);
  expect(heavy).toEqual([]);
  expect(size(stylesOf(Object.values(manifest)))).toBeLessThanOrEqual(24 * 1_024);
});
