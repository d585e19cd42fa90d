// Proves that a commit has one package file: `npm run reproduce`. Packs two clones of HEAD, in folders of different
// names and lengths, with another time zone, language and umask, and compares the bytes. `--out DIR` puts the file and
// its SHA256SUMS there. Without an answer of the registry, what the cache of npm has is installed.
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { differingFiles } from './reproduce/differing-files.ts';
import { packClone } from './reproduce/pack-clone.ts';

/** Names printed of files that differ. */
const mostNames = 20;

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({ options: { out: { type: 'string' } } });
const commit = spawnSync('git', ['rev-parse', 'HEAD'], {
  cwd: root,
  encoding: 'utf8',
}).stdout.trim();
const folder = mkdtempSync(join(tmpdir(), 'holdpoint-reproduce-'));
try {
  const one = packClone(root, commit, {
    folder: join(folder, 'a'),
    packed: join(folder, 'packed-a'),
    env: { TZ: 'UTC', LC_ALL: 'C' },
    umask: 0o022,
  });
  const other = packClone(root, commit, {
    folder: join(folder, 'a longer path', 'with-another-name', 'holdpoint'),
    packed: join(folder, 'packed-b'),
    env: { TZ: 'Pacific/Kiritimati', LC_ALL: 'C.UTF-8' },
    umask: 0o077,
  });
  const [first, second] = [one, other].map((file) => hash('sha256', readFileSync(file), 'hex'));
  const sum = `${first}  ${basename(one)}\n`;
  if (first === second) {
    process.stdout.write(sum);
    if (values.out !== undefined) keep(one, sum, resolve(values.out));
  } else {
    console.error(`two clones of ${commit} gave different packages; these files differ:`);
    const names = differingFiles(one, other, folder);
    for (const name of names.slice(0, mostNames)) console.error(`  ${name}`);
    if (names.length > mostNames) console.error(`  and ${names.length - mostNames} more`);
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function keep(file: string, sum: string, target: string): void {
  mkdirSync(target, { recursive: true });
  copyFileSync(file, join(target, basename(file)));
  writeFileSync(join(target, 'SHA256SUMS'), sum);
}
