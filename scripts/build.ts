import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundledPackages } from './build/bundled-packages.ts';
import { settleModes } from './build/settle-modes.ts';
import { writeBundle } from './build/write-bundle.ts';
import { writeLibrary } from './build/write-library.ts';
import { writeNotices } from './build/write-notices.ts';
import { writeSbom } from './build/write-sbom.ts';

/**
 * Writes `dist`, which is what the package runs: the command with its packages inside, their terms, a list of all that
 * ships, and the pages, which are built by `build-page.ts` and stay when they are newer than their sources. Also writes the packages
 * for other programs, with `--packages` these alone.
 */
const root = join(import.meta.dirname, '..');
const built = join(root, 'dist');

const library = await writeLibrary();
if (process.argv.includes('--packages')) process.exit();

const page = join(root, 'scripts/build-page.ts');
const { status } = spawnSync(process.execPath, [page], { cwd: root, stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

/** What the build of the pages wrote. */
const pageFiles = ['approvals', 'dashboard', 'bundle.html', 'bundle.modules.json'];
const kept = ['ui', ...pageFiles.map((name) => join('ui', name))];

for (const path of globSync(['*', 'ui/*'], { cwd: built })) {
  if (kept.includes(path)) continue;
  rmSync(join(built, path), { recursive: true, force: true });
}
const modules = [...(await writeBundle(built)), ...library, ...bundlePage()];
const packages = bundledPackages(modules);
const pages = noticesOfPages();
writeNotices(join(built, 'licenses.md'), packages, pages);
writeSbom(join(built, 'sbom.cdx.json'), { root, packages, pages });
settleModes(root);

/** Returns the modules in the page of an evidence bundle. */
function bundlePage(): string[] {
  const list = readFileSync(join(built, 'ui/bundle.modules.json'), 'utf8');
  return (JSON.parse(list) as string[]).map((path) => join(root, path));
}

/** Returns the notices of the pages, each package once. */
function noticesOfPages(): string {
  const [first = [], ...others] = ['dashboard', 'approvals'].map((page) =>
    readFileSync(join(built, 'ui', page, 'licenses.md'), 'utf8').split(/^(?=## \S+ - \S+ \()/m),
  );
  const more = others.flatMap(([, ...notices]) => notices.filter((one) => !first.includes(one)));
  return [...first, ...more].map((part) => part.trim()).join('\n\n');
}
