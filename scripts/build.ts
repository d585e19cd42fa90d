import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundledPackages } from './build/bundled-packages.ts';
import { writeBundle } from './build/write-bundle.ts';
import { writeLibrary } from './build/write-library.ts';
import { writeNotices } from './build/write-notices.ts';
import { writeSbom } from './build/write-sbom.ts';

/**
 * Writes `dist`, which is what the package runs: the command with its packages inside, their terms, a list of all that
 * ships, the modules for other programs with their types, and the pages, which are built by `build-page.ts`
 * and stay when they are newer than their sources.
 */
const root = join(import.meta.dirname, '..');
const built = join(root, 'dist');

const page = join(root, 'scripts/build-page.ts');
const { status } = spawnSync(process.execPath, [page], { cwd: root, stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

for (const path of globSync(['*', 'ui/*'], { cwd: built })) {
  if (
    ['ui', join('ui', 'approvals'), join('ui', 'dashboard'), join('ui', 'bundle.html')].includes(
      path,
    )
  )
    continue;
  rmSync(join(built, path), { recursive: true, force: true });
}
const packages = bundledPackages(await writeBundle(built));
await writeLibrary(built);
const pages = readFileSync(join(built, 'ui/dashboard/licenses.md'), 'utf8');
writeNotices(join(built, 'licenses.md'), packages, pages);
writeSbom(join(built, 'sbom.cdx.json'), { root, packages, pages });
