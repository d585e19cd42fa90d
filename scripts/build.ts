import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Writes `dist`, which is what the package runs: Node takes no types off the files of a package. What is read as text
 * at run time, such as a page and the bridge of the sandbox, goes there as it is.
 */
const root = join(import.meta.dirname, '..');
const source = join(root, 'src');
const built = join(root, 'dist');

rmSync(built, { recursive: true, force: true });
const { status } = spawnSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

cpSync(source, built, {
  recursive: true,
  filter: (path) =>
    !path.endsWith('.ts') ||
    path.startsWith(join(source, 'ui')) ||
    basename(path) === 'sandbox-bridge.ts',
});
