import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Files that npm packs without being asked. */
const always = ['package.json', 'README.md', 'LICENSE'];

/**
 * Gives the files of the package the modes 0644 and 0755. npm packs a file with the mode that it has, which the umask of
 * the builder decided.
 */
export function settleModes(root: string): void {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    files: string[];
  };
  const named = [...always, ...files.filter((name) => !name.startsWith('!'))];
  for (const path of named.map((name) => join(root, name)).flatMap(filesAt)) {
    const isProgram = (statSync(path).mode & 0o100) !== 0;
    chmodSync(path, isProgram ? 0o755 : 0o644);
  }
}

function filesAt(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
