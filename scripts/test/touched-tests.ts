import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type KindOfTest, kindsOfTests, Sources } from '../../test/tooling/kinds-of-tests.ts';

/** Imports between a test and a changed file; with more of them a test hardly tells of the change. */
const near: Readonly<Record<KindOfTest, number>> = { pure: 99, sockets: 2, processes: 1 };

/** Tests of a kind at most, those with the fewest imports between. */
const most: Readonly<Record<KindOfTest, number>> = { pure: 400, sockets: 60, processes: 6 };

/** Files that a test reaches by other ways than an import. */
const reachesAll =
  /^(?:package(?:-lock)?\.json|tsconfig\.json|vitest\.config\.ts|test\/(?:tooling|helpers)\/|scripts\/test)/;

/** The tests that a change calls for. */
export interface TouchedTests {
  /** Paths of tests, or `null` for all that start no programs. */
  readonly tests: readonly string[] | null;
  /** How many more reach the change by imports. */
  readonly left: number;
}

/**
 * Returns the tests that reach the changed files of the repository at `root` by imports, the nearest first, and those
 * in the folder of `test` that mirrors theirs.
 */
export function touchedTests(root: string, changed: readonly string[]): TouchedTests {
  if (changed.length === 0 || changed.some((path) => reachesAll.test(path))) {
    return { tests: null, left: 0 };
  }
  const sources = new Sources();
  const wanted = new Set(changed.map((path) => join(root, path)));
  const mirrored = new Set(
    changed.map((path) =>
      path.endsWith('.md') ? 'test/docs' : dirname(path.replace(/^src\/|^(?=packages\/)/, 'test/')),
    ),
  );
  const tests: string[] = [];
  let reaching = 0;
  for (const [kind, paths] of Object.entries(kindsOfTests(root)) as [KindOfTest, string[]][]) {
    const found = paths
      .map((path) => {
        const hops = sources.hopsTo(join(root, path), wanted);
        return { path, hops: mirrored.has(dirname(path)) ? Math.min(1, hops) : hops };
      })
      .filter(({ hops }) => hops < Infinity)
      .toSorted((one, other) => one.hops - other.hops);
    reaching += found.length;
    tests.push(
      ...found
        .filter(({ hops }) => hops <= near[kind])
        .slice(0, most[kind])
        .map(({ path }) => path),
    );
  }
  return { tests, left: reaching - tests.length };
}

/** Returns the files that differ from where this branch left `main`, with those that nobody has committed. */
export function changedFiles(root: string): string[] {
  const git = (...words: string[]): string[] => {
    const text = execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
    return text.split('\n').filter((line) => line !== '');
  };
  const changed = git('diff', '--name-only', '--merge-base', mainOf(git));
  const added = git('ls-files', '--others', '--exclude-standard');
  return [...new Set([...changed, ...added])].filter((path) => existsSync(join(root, path)));
}

function mainOf(git: (...words: string[]) => string[]): string {
  for (const name of ['origin/main', 'main']) {
    try {
      if (git('rev-parse', '--verify', '--quiet', name).length > 0) return name;
    } catch {
      // A clone without this name may have the other.
    }
  }
  return 'HEAD';
}
