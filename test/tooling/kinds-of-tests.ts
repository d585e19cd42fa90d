import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Suite } from '../helpers/runs.ts';

/**
 * What tests need: nothing but their worker; sockets and scripts of tools in it; or separate programs, such as daemons
 * and browsers.
 */
export type KindOfTest = 'pure' | 'sockets' | 'processes';

/** What a test, or what it has from outside of the product, imports to start programs. */
const startsPrograms = new Set(['node:child_process', 'playwright-core']);

/** What it imports to listen and to connect. */
const speaks = new Set([
  '@copilotkit/aimock',
  'node:dgram',
  'node:http',
  'node:https',
  'node:net',
  'node:tls',
  'oidc-provider',
  'undici',
  'ws',
]);

/** What a test imports that asks less in `npm test` than it could. */
const runs = '/test/helpers/runs.ts';

/** What a test imports that has a dashboard start the real command, which is bundled for `processes` alone. */
const startsAgents = '/test/helpers/workspace-agents.ts';

/** How the product, or a test itself, listens or runs a script. */
const listensOrRuns = /\bcreateServer\(|\bnew WebSocketServer\(|'node:child_process'/;
const listensItself = /\.listen\(/;

/** An import or export of values, which types are not. */
const importOf = /^(?:import|export)\s(?!type\b)(?:[^'";]*?\sfrom\s)?'([^']+)'/gm;

/**
 * Tells the tests of the repository at `root` apart by what they reach, so that a file that is moved, or changes what it
 * needs, changes its project by itself. Returns paths from `root`, sorted. The long suite has the files named
 * `*.long.test.ts` and those that ask more there; the usual one has every other file.
 */
export function kindsOfTests(root: string, suite: Suite = 'usual'): Record<KindOfTest, string[]> {
  const kinds: Record<KindOfTest, string[]> = { pure: [], sockets: [], processes: [] };
  const sources = new Sources();
  for (const test of globSync('test/**/*.test.ts', { cwd: root }).toSorted()) {
    if (!isOf(suite, join(root, test), sources)) continue;
    kinds[kindOf(join(root, test), join(root, 'src/'), sources)].push(test);
  }
  return kinds;
}

function isOf(suite: Suite, test: string, sources: Sources): boolean {
  if (test.endsWith('.long.test.ts')) return suite === 'long';
  if (suite === 'usual' || sources.importsOf(test).packages.includes('fast-check')) return true;
  return sources.reachedFrom(test).some((file) => file.endsWith(runs));
}

function kindOf(test: string, product: string, sources: Sources): KindOfTest {
  const reached = sources.reachedFrom(test);
  const own = reached.filter((path) => !path.startsWith(product));
  const names = new Set(own.flatMap((path) => sources.importsOf(path).packages));
  if (!names.isDisjointFrom(startsPrograms)) return 'processes';
  if (own.some((path) => path.endsWith(startsAgents))) return 'processes';
  if (!names.isDisjointFrom(speaks)) return 'sockets';
  if (own.some((path) => listensItself.test(sources.textOf(path)))) return 'sockets';
  return reached.some((path) => listensOrRuns.test(sources.textOf(path))) ? 'sockets' : 'pure';
}

/** The files of a repository and what they import, each read once. */
export class Sources {
  readonly #texts = new Map<string, string>();
  readonly #imports = new Map<string, { files: string[]; packages: string[] }>();

  textOf(path: string): string {
    const text = this.#texts.get(path) ?? readFileSync(path, 'utf8');
    this.#texts.set(path, text);
    return text;
  }

  importsOf(path: string): { files: string[]; packages: string[] } {
    const known = this.#imports.get(path);
    if (known !== undefined) return known;
    const names = [...this.textOf(path).matchAll(importOf)].map(([, name = '']) => name);
    const files = names
      .filter((name) => name.startsWith('.') && name.endsWith('.ts'))
      .map((name) => resolve(dirname(path), name))
      .filter((file) => existsSync(file));
    const imports = { files, packages: names.filter((name) => !name.startsWith('.')) };
    this.#imports.set(path, imports);
    return imports;
  }

  /** The file itself and all that it imports, and what these import. */
  reachedFrom(start: string): string[] {
    const reached = new Set([start]);
    // A set visits what is added while it is walked.
    for (const path of reached) for (const file of this.importsOf(path).files) reached.add(file);
    return [...reached];
  }

  /** Counts the imports from a file to the nearest of some others: 0 to itself, and `Infinity` to none that it reaches. */
  hopsTo(start: string, wanted: ReadonlySet<string>): number {
    const hops = new Map([[start, 0]]);
    for (const [path, count] of hops) {
      if (wanted.has(path)) return count;
      for (const file of this.importsOf(path).files) if (!hops.has(file)) hops.set(file, count + 1);
    }
    return Infinity;
  }
}
