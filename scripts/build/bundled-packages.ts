import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the package that a module belongs to. */
const packageFolder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/** A package of which modules are inside a bundle. */
export interface BundledPackage {
  name: string;
  version: string;
  /** An SPDX expression; `null` when the package names no terms. */
  license: string | null;
  folder: string;
}

/** Returns the packages that modules belong to, each once, by name and version. */
export function bundledPackages(modules: readonly string[]): BundledPackage[] {
  const folders = new Set(modules.flatMap((path) => packageFolder.exec(path)?.[0] ?? []));
  const packages = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    ) as { name: string; version: string; license?: string };
    return { name, version, license: license ?? null, folder };
  });
  return packages.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}

/** Returns how a package is called in notices and lists, such as `koa@3.3.0`. */
export function nameOf({ name, version }: Pick<BundledPackage, 'name' | 'version'>): string {
  return `${name}@${version}`;
}
