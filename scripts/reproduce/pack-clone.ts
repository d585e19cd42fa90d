import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A clone to pack, and how its machine differs. */
export interface Clone {
  folder: string;
  /** Folder of the package file; must not exist yet. */
  packed: string;
  env: Record<string, string>;
  umask: number;
}

/**
 * Clones a commit into a new folder, installs what its lock file names, and packs it. Returns the path of the package
 * file. Throws if a step fails.
 */
export function packClone(
  root: string,
  commit: string,
  { folder, packed, env, umask }: Clone,
): string {
  const before = process.umask(umask);
  try {
    mkdirSync(dirname(folder), { recursive: true });
    mkdirSync(packed, { recursive: true });
    const run = (program: string, args: string[], cwd: string) => {
      const { status, stderr } = spawnSync(program, args, {
        ...{ cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
        env: { ...process.env, ...env },
      });
      if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed in ${cwd}: ${stderr}`);
    };
    run('git', ['clone', '--quiet', '--no-checkout', root, folder], root);
    run('git', ['checkout', '--quiet', '--detach', commit], folder);
    run('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], folder);
    run('npm', ['pack', '--pack-destination', packed], folder);
  } finally {
    process.umask(before);
  }
  const [name = ''] = readdirSync(packed).filter((file) => file.endsWith('.tgz'));
  return join(packed, name);
}
