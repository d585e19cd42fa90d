import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Installs the packages of a folder as its lock has them, unless they are there; none of their scripts runs. */
export async function install(folder: string): Promise<void> {
  if (isInstalled(folder)) return;
  const what = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await promisify(execFile)('npm', what, { cwd: folder, timeout: 180_000 });
}

/** Returns the version of a package that the folder asks for. */
export function versionOf(folder: string, name: string): string {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return dependencies[name] ?? '';
}

function isInstalled(folder: string): boolean {
  const lock = statSync(join(folder, 'package-lock.json'));
  const installed = statSync(join(folder, 'node_modules/.package-lock.json'), {
    throwIfNoEntry: false,
  });
  return installed !== undefined && installed.mtimeMs >= lock.mtimeMs;
}
