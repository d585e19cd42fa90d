import { rmSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import type { BuildOptions, Plugin } from 'vite';
import { isPageBuilt } from '../src/agent/start/built-page.ts';

/**
 * Writes the page of the dashboard to `dist/ui/dashboard`, the approvals page to `dist/ui/approvals`, and that of an evidence bundle to `dist/ui/bundle.html`, when
 * they are missing or older than their sources; `--force` writes them regardless of their age. The finished folder takes the place of the last one at once, so that a server of it never reads a
 * half.
 */
const root = join(import.meta.dirname, '..');
const source = join(root, 'src/ui/dashboard');
const bundleSource = join(root, 'src/ui/bundle');
const built = join(root, 'dist/ui/dashboard');
const approvalsSource = join(root, 'src/ui/approvals');
const builtApprovals = join(root, 'dist/ui/approvals');

/** Few files, as each costs a phone a way to the server: what asks first, what every view needs, and a file for a view. */
const groups = [
  {
    name: 'main',
    priority: 2,
    test: /src\/ui\/dashboard\/(main\.ts|api\/|shell\/views\.ts|state\/route\.ts|styles\/)|vite\/|rolldown\/runtime/,
  },
  {
    name: 'begin',
    priority: 1,
    test: /src\/ui\/dashboard\/(begin\.ts|start-dashboard\.ts|components\/|connection\/|shell\/|state\/)|node_modules\/(svelte|xstate|@xstate|esm-env|clsx)\//,
  },
];

/** Files by the name of their style. */
const styleNames = new Map<string, string>();

const { values } = parseArgs({ options: { force: { type: 'boolean', default: false } } });
if (values.force || !isPageBuilt()) {
  await build(builtApprovals, approvalsSource, {
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      input: ['index.html', 'service-worker.ts'].map((name) => join(approvalsSource, name)),
      // The address of a service worker must not change.
      output: {
        entryFileNames: ({ name }) =>
          name === 'service-worker' ? '[name].js' : 'assets/[name]-[hash].js',
      },
    },
  });
  await build(
    built,
    source,
    {
      manifest: 'manifest.json',
      license: { fileName: 'licenses.md' },
      rolldownOptions: { output: { codeSplitting: { groups } } },
    },
    [preloadBegin()],
  );
  await buildBundlePage();
}

/**
 * Names the class of a component's style by its path in the clone, so that every clone builds the same page. The usual
 * names cost 0.4 KB of the compressed style.
 */
function cssHash({ filename, hash }: { filename: string; hash: (text: string) => string }): string {
  const name = `s-${hash(filename).slice(0, 4)}`;
  const owner = styleNames.get(name) ?? filename;
  if (owner !== filename) {
    throw new Error(`the styles of ${owner} and ${filename} have one name; rename a file`);
  }
  styleNames.set(name, filename);
  return name;
}

async function build(
  target: string,
  sources: string,
  output: BuildOptions = {},
  plugins: Plugin[] = [],
): Promise<void> {
  // Both packages ask as they are loaded whether this is a build for use.
  process.env['NODE_ENV'] = 'production';
  const { build: viteBuild } = await import('vite');
  const { svelte } = await import('@sveltejs/vite-plugin-svelte');
  const fresh = `${target}.${process.pid}`;
  try {
    await viteBuild({
      configFile: false,
      root: sources,
      base: './',
      logLevel: 'warn',
      plugins: [
        svelte({ configFile: false, compilerOptions: { runes: true, cssHash } }),
        ...plugins,
      ],
      build: {
        outDir: fresh,
        emptyOutDir: true,
        // Browsers that know light-dark(): it stays as it is written.
        target: ['chrome123', 'firefox120', 'safari17.5'],
        modulePreload: { polyfill: false },
        // One small file of all styles: no view is drawn before its own have come.
        cssCodeSplit: false,
        assetsInlineLimit: 0,
        ...output,
      },
    });
    if (values.force || !isPageBuilt()) await replace(fresh, target);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Writes the page of an evidence bundle as one file that contains its script, and the list of the script's modules. */
async function buildBundlePage(): Promise<void> {
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    ...{ cwd: root, input: join(bundleSource, 'verify-page.ts'), platform: 'browser' },
    tsconfig: false,
  });
  const { output } = await bundle.generate({ format: 'iife', minify: true });
  await bundle.close();
  const html = await readFile(join(bundleSource, 'verify-page.html'), 'utf8');
  // No text of the script may end its element.
  const script = output[0].code.replaceAll('</', '<\\/');
  const modules = output[0].moduleIds.map((path) => relative(root, path).replaceAll('\\', '/'));
  await writeFile(join(dirname(built), 'bundle.modules.json'), JSON.stringify(modules));
  const fresh = join(dirname(built), `bundle.${process.pid}.html`);
  await writeFile(
    fresh,
    html.replace('<script></script>', () => `<script>${script}</script>`),
  );
  await rename(fresh, join(dirname(built), 'bundle.html'));
}

/** Has the document load what `main.ts` imports in parallel with it, and not after it. */
function preloadBegin(): Plugin {
  return {
    name: 'preload-begin',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((one) => one.type === 'chunk');
        const begin = chunks.find(({ name }) => name === 'begin');
        if (begin === undefined) throw new Error('there is no chunk of begin.ts to load early');
        const attrs = { rel: 'modulepreload', crossorigin: true, href: `./${begin.fileName}` };
        return {
          // Without `async` it waits for the styles.
          html: html.replace('<script type="module"', '<script async type="module"'),
          tags: [{ tag: 'link', attrs, injectTo: 'head' as const }],
        };
      },
    },
  };
}

/** Puts the folder where the last one is; another build at the same time may be first, with the same files. */
async function replace(fresh: string, target: string): Promise<void> {
  const last = join(dirname(target), `.replaced.${process.pid}`);
  await rename(target, last).catch(() => undefined);
  await rename(fresh, target).catch(() => undefined);
  await rm(last, { recursive: true, force: true });
}
