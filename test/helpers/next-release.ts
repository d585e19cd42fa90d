import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeBundle } from '../../scripts/build/write-bundle.ts';
import { commandFile } from './real-command.ts';

const root = join(import.meta.dirname, '../..');

/** The version of the release that follows this one. */
export const nextVersion = '99.0.0';

/** A later release: this one with another version, a new version of the task chart, and one more step of each store. */
export interface NextRelease {
  /** The file of its command. */
  program: string;
}

/**
 * Bundles a later release of the sources, unless another file of tests has done so; it stays with the bundle of the
 * sources. `breaks` makes its tables unusable for this release.
 */
export async function nextRelease({ breaks = false } = {}): Promise<NextRelease> {
  const folder = `${dirname(commandFile())}-${breaks ? 'breaking' : 'next'}`;
  const program = join(folder, 'dist/cli.js');
  if (existsSync(program)) return { program };
  const fresh = `${folder}.${process.pid}`;
  try {
    copySources(fresh, breaks);
    await writeBundle(join(fresh, 'dist'), fresh);
    renameSync(fresh, folder);
  } catch (error) {
    // Another worker may have written the same bundle first.
    if (!existsSync(program)) throw error;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return { program };
}

/** Copies the sources and changes them to those of the later release. */
function copySources(folder: string, breaks: boolean): void {
  cpSync(join(root, 'src'), join(folder, 'src'), {
    recursive: true,
    filter: (path) => path !== join(root, 'src/ui'),
  });
  const packages = join(root, 'packages');
  cpSync(packages, join(folder, 'packages'), {
    recursive: true,
    filter: (path) => !/\/(?:dist|node_modules)$/.test(path),
  });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  const change = (path: string, from: string | RegExp, to: string): void => {
    const text = readFileSync(join(folder, path), 'utf8');
    const changed = text.replace(from, to);
    if (changed === text) throw new Error(`${path} has no ${String(from)}`);
    writeFileSync(join(folder, path), changed);
  };
  change('package.json', /"version": "[^"]*"/, `"version": "${nextVersion}"`);
  change(
    'src/machines/task/snapshot-steps.ts',
    /(SnapshotStep\[\] = )\[/,
    '$1[(snapshot) => snapshot,',
  );
  for (const [path, steps] of [
    ['postgres/postgres-schema.ts', 'postgresSteps'],
    ['sqlite/store-schema.ts', 'schemaSteps'],
  ]) {
    const file = `src/actors/records/${path}`;
    change(
      file,
      /(Steps: readonly string\[\] = \[[^\]]+)\]/,
      `$1, 'CREATE TABLE of_next_release (one INTEGER);']`,
    );
    if (breaks) change(file, /(readableFrom = )\d+/, `$1${steps}.length`);
  }
}
