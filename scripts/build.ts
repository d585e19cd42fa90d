import { spawnSync } from 'node:child_process';
import { cpSync, globSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes `dist`, which is what the package runs: Node takes no types off the files of a package. What is read as text
 * at run time, such as a page and the bridge of the sandbox, goes there as it is. The page of the dashboard is built by
 * `build-page.ts`, and stays when it is newer than its sources.
 */
const root = join(import.meta.dirname, '..');
const source = join(root, 'src');
const built = join(root, 'dist');

for (const path of globSync(['*', 'ui/*'], { cwd: built })) {
  if (path === 'ui' || path === join('ui', 'dashboard')) continue;
  rmSync(join(built, path), { recursive: true, force: true });
}
run('tsc', ['-p', 'tsconfig.build.json']);
run(process.execPath, [join(root, 'scripts/build-page.ts')]);

cpSync(source, built, {
  recursive: true,
  filter: (path) =>
    path !== join(source, 'ui/dashboard') &&
    (!path.endsWith('.ts') || path.startsWith(join(source, 'ui'))),
});

function run(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
