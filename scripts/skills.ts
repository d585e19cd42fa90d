// Copies the modules that skills share from scripts/skills into each skill that imports them, since a skill must run
// from its own folder. `npm run skills`; with `--check` it fails when a copy differs.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const root = join(import.meta.dirname, '..');
const shared = new Map(
  globSync(join(import.meta.dirname, 'skills/*.mjs')).map((file) => [
    basename(file),
    readFileSync(file, 'utf8'),
  ]),
);

const stale: string[] = [];
for (const file of globSync('skills/*/scripts/*.mjs', { cwd: root }).sort()) {
  if (!shared.has(basename(file)))
    copyImports(dirname(file), readFileSync(join(root, file), 'utf8'));
}
if (stale.length > 0) {
  console.error(`${stale.join(', ')}: not as in scripts/skills; run npm run skills and commit it`);
  process.exitCode = 1;
}

/** Copies the shared modules that a script imports, and those that they import. */
function copyImports(folder: string, script: string) {
  for (const [, name = ''] of script.matchAll(/from '\.\/([\w-]+\.mjs)'/g)) {
    const text = shared.get(name);
    if (text === undefined) continue;
    const copy = join(folder, name);
    if (!existsSync(join(root, copy)) || readFileSync(join(root, copy), 'utf8') !== text) {
      if (values.check) stale.push(copy);
      else writeFileSync(join(root, copy), text);
    }
    copyImports(folder, text);
  }
}
