import { globSync, rmSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * Writes the page of the dashboard to `dist/ui/dashboard` when it is missing or older than its sources; `--force` writes
 * it whatever its age. The finished folder takes the place of the last one at once, so that a server of it never reads a
 * half.
 */
const root = join(import.meta.dirname, '..');
const source = join(root, 'src/ui/dashboard');
const built = join(root, 'dist/ui/dashboard');

const { values } = parseArgs({ options: { force: { type: 'boolean', default: false } } });
if (values.force || isOld()) await build();

function isOld(): boolean {
  return changedAt([join(built, 'index.html')]) < changedAt(sources());
}

function sources(): string[] {
  const files = globSync('**/*.{ts,svelte,css,html,svg,json}', { cwd: source });
  return [
    ...files.map((file) => join(source, file)),
    join(root, 'package-lock.json'),
    import.meta.filename,
  ];
}

/** When the newest of the files was changed, in epoch milliseconds; 0 when none is there. */
function changedAt(files: readonly string[]): number {
  return Math.max(
    0,
    ...files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0),
  );
}

async function build(): Promise<void> {
  // Both packages ask as they are loaded whether this is a build for use.
  process.env['NODE_ENV'] = 'production';
  const { build: viteBuild } = await import('vite');
  const { svelte } = await import('@sveltejs/vite-plugin-svelte');
  const fresh = `${built}.${process.pid}`;
  try {
    await viteBuild({
      configFile: false,
      root: source,
      base: './',
      logLevel: 'warn',
      plugins: [svelte({ configFile: false, compilerOptions: { runes: true } })],
      build: {
        outDir: fresh,
        emptyOutDir: true,
        // Browsers that know light-dark(): it stays as it is written.
        target: ['chrome123', 'firefox120', 'safari17.5'],
        modulePreload: { polyfill: false },
        assetsInlineLimit: 0,
        manifest: 'manifest.json',
        license: { fileName: 'licenses.md' },
      },
    });
    if (values.force || isOld()) await replace(fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Puts the folder where the last one is; whoever builds at the same time may be first, with the same files. */
async function replace(fresh: string): Promise<void> {
  const last = join(dirname(built), `.dashboard.${process.pid}`);
  await rename(built, last).catch(() => undefined);
  await rename(fresh, built).catch(() => undefined);
  await rm(last, { recursive: true, force: true });
}
