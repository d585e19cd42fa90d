import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';

/** What is read of a lock file. */
export interface Lock {
  packages: Record<
    string,
    {
      dependencies?: Record<string, string>;
      optionalDependencies?: Record<string, string>;
      peerDependencies?: Record<string, string>;
    }
  >;
}

const imported = /(?:\bfrom|\bimport\(?)\s*['"]((?:@[\w.-]+\/)?[\w.-]+)(?:\/[^'"]*)?['"]/g;

/**
 * Returns the places in the lock file of all packages that a release may contain: those that the sources import and
 * those that npm installs with the release, each with all that it depends on. A release has no more than that.
 */
export function shippedPackages(root: string): Set<string> {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const names = globSync('{src,packages/testing}/**/*.{ts,svelte}', { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(imported)].map(([, name = '']) => name),
  );
  return closure(lock, [...names, ...Object.keys(dependencies)]);
}

/** Returns the places of packages, and of all that they depend on. */
export function closure({ packages }: Lock, names: readonly string[]): Set<string> {
  const found = new Set(
    names
      .filter((name) => !builtinModules.includes(name))
      .map((name) => `node_modules/${name}`)
      .filter((place) => Object.hasOwn(packages, place)),
  );
  // A set visits what is added while it is walked.
  for (const place of found) {
    const { dependencies, optionalDependencies, peerDependencies } = packages[place] ?? {};
    const needed = { ...dependencies, ...optionalDependencies, ...peerDependencies };
    for (const name of Object.keys(needed)) {
      const next = placeOf(packages, place, name);
      if (next !== null) found.add(next);
    }
  }
  return found;
}

/** Finds a dependency as Node does: in the folder of its dependent, then in those above. */
function placeOf(packages: Lock['packages'], from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf('/node_modules/'))) {
    const place = `${folder}/node_modules/${name}`;
    if (Object.hasOwn(packages, place)) return place;
    if (!folder.includes('/node_modules/')) break;
  }
  const top = `node_modules/${name}`;
  return Object.hasOwn(packages, top) ? top : null;
}
