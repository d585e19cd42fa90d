import {
  cpSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The version of the release that follows this one. */
export const nextVersion = '99.0.0';

/** A later release: this one with another version, a new version of the task chart, and one more step of each store. */
export interface NextRelease {
  /** The file of its command. */
  program: string;
  remove(): void;
}

/** Copies the sources and makes a later release of them. `breaks` makes its tables unusable for this release. */
export function nextRelease({ breaks = false } = {}): NextRelease {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-next-')));
  cpSync(join(root, 'src'), join(folder, 'src'), {
    recursive: true,
    filter: (path) => path !== join(root, 'src/ui'),
  });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const change = (path: string, from: string | RegExp, to: string): void => {
    const text = readFileSync(join(folder, path), 'utf8');
    const changed = text.replace(from, to);
    if (changed === text) throw new Error(`${path} has no ${String(from)}`);
    writeFileSync(join(folder, path), changed);
  };
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
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
    change(file, /(\[baseline)\]/, `$1, 'CREATE TABLE of_next_release (one INTEGER);']`);
    if (breaks) change(file, /(readableFrom = )\d+/, `$1${steps}.length`);
  }
  return {
    program: join(folder, 'src/cli.ts'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
