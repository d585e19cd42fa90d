import { rmSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { isPageBuilt } from '../src/cli/ui/built-page.ts';

/**
 * Writes the page of the dashboard to `dist/ui/dashboard` when it is missing or older than its sources; `--force` writes
 * it whatever its age. The finished folder takes the place of the last one at once, so that a server of it never reads a
 * half.
 */
const root = join(import.meta.dirname, '..');
const source = join(root, 'src/ui/dashboard');
const built = join(root, 'dist/ui/dashboard');

const { values } = parseArgs({ options: { force: { type: 'boolean', default: false } } });
if (values.force || !isPageBuilt()) await build();

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
        // One small file of all styles: no view is drawn before its own have come.
        cssCodeSplit: false,
        assetsInlineLimit: 0,
        manifest: 'manifest.json',
        license: { fileName: 'licenses.md' },
      },
    });
    if (values.force || !isPageBuilt()) await replace(fresh);
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
