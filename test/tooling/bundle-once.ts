import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { writeBundle } from '../../scripts/build/write-bundle.ts';

const root = join(import.meta.dirname, '../..');
const bundles = join(root, '.cache/bundles');

/** Milliseconds after which a bundle that no run of tests has used is removed. */
const kept = 24 * 60 * 60 * 1_000;

/**
 * Writes the bundle of the sources as they are, unless there is one, and returns the path of its command. Bundles of
 * other sources stay, as another run may be at work with them.
 */
export async function bundleOnce(): Promise<string> {
  const folder = join(bundles, hashOfSources());
  if (!existsSync(folder)) await writeAs(folder);
  utimesSync(folder, new Date(), new Date());
  for (const name of readdirSync(bundles)) {
    const other = join(bundles, name);
    const usedAt = statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (Date.now() - usedAt > kept) rmSync(other, { recursive: true, force: true });
  }
  return join(folder, 'cli.js');
}

/** Another process may write the same bundle first, with the same files. */
async function writeAs(folder: string): Promise<void> {
  const fresh = `${folder}.${process.pid}`;
  try {
    mkdirSync(fresh, { recursive: true });
    await writeBundle(fresh);
    renameSync(fresh, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function hashOfSources(): string {
  const hash = createHash('sha256');
  for (const path of sources().toSorted()) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

function sources(): string[] {
  const patterns = [
    'src/**/*',
    'packages/testing/*.ts',
    'scripts/build/*',
    'package.json',
    'package-lock.json',
  ];
  return globSync(patterns, { cwd: root, exclude: ['src/ui/dashboard'], withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)));
}
