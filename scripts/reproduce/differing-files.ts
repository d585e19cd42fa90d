import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Lists the files that differ between two package files, in content or mode. Unpacks both below a folder. */
export function differingFiles(one: string, other: string, folder: string): string[] {
  const [first, second] = [one, other].map((file, index) => {
    const target = join(folder, `unpacked-${index}`);
    mkdirSync(target);
    spawnSync('tar', ['-xzpf', file, '-C', target]);
    return filesOf(target);
  });
  const names = new Set([...(first?.keys() ?? []), ...(second?.keys() ?? [])]);
  return [...names].filter((name) => first?.get(name) !== second?.get(name)).toSorted();
}

function filesOf(folder: string): Map<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const content = hash('sha256', readFileSync(path), 'hex');
        return [relative(folder, path), `${content} ${statSync(path).mode}`];
      }),
  );
}
