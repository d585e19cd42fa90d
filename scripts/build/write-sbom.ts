import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BundledPackage, nameOf } from './bundled-packages.ts';
import { checkSbom } from './check-sbom.ts';

/** What is read of the list that npm makes; the rest is passed on as it is. */
interface Sbom {
  serialNumber?: string;
  metadata: { timestamp?: string; component: { 'bom-ref': string; name: string } };
  components: { 'bom-ref': string; name: string; scope?: string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/** How a notice of a page names a package: `## koa - 3.3.0 (MIT)`. */
const headingOfPage = /^## (\S+) - (\S+) \(.*\)$/gm;

/**
 * Writes what the package ships as a CycloneDX list: what is inside the bundle and the pages, and what npm installs
 * next to them. Names, hashes and terms are those of the lock file; without a date and a serial number the same sources
 * make the same list. Throws when npm makes no list, when the list is not valid, and for what ships without a lock-file entry.
 */
export function writeSbom(
  file: string,
  { root, packages, pages }: { root: string; packages: readonly BundledPackage[]; pages: string },
): void {
  const words = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--workspaces=false'];
  const made = spawnSync('npm', words, {
    ...{ cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  });
  if (made.status !== 0) throw new Error(`npm sbom failed; it needs npm 10: ${made.stderr}`);
  const sbom = JSON.parse(made.stdout) as Sbom;
  const inPages = [...pages.matchAll(headingOfPage)].map(
    ([, name, version]) => `${name}@${version}`,
  );
  const inside = new Set([...packages.map(nameOf), ...inPages]);
  const own = sbom.metadata.component['bom-ref'];
  const besides = installed(sbom, root);
  const components = sbom.components.filter(
    ({ 'bom-ref': ref }) => inside.has(ref) || besides.has(ref),
  );
  const listed = new Set([own, ...components.map(({ 'bom-ref': ref }) => ref)]);
  const missing = [...inside].filter((name) => !listed.has(name));
  if (missing.length > 0) throw new Error(`no lock file names ${missing.join(', ')}`);
  const { serialNumber: _, ...rest } = sbom;
  const { timestamp: __, ...metadata } = sbom.metadata;
  const dependencies = sbom.dependencies
    .filter(({ ref }) => listed.has(ref))
    .map(({ ref, dependsOn }) => ({
      ref,
      dependsOn: dependsOn.filter((name) => listed.has(name)),
    }));
  const shipped = {
    ...rest,
    metadata: { ...metadata, component: { ...metadata.component, name: 'holdpoint' } },
    components: components.map((component) =>
      inside.has(component['bom-ref']) ? { ...component, scope: 'required' } : component,
    ),
    dependencies,
  };
  checkSbom(shipped);
  writeFileSync(file, `${JSON.stringify(shipped, null, 2)}\n`);
}

/** Returns the packages that npm installs with ours: its dependencies, and all that these depend on. */
function installed({ metadata, components, dependencies }: Sbom, root: string): Set<string> {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: object;
  };
  const needs = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const ours = components.filter(({ name }) => Object.hasOwn(manifest.dependencies, name));
  const own = needs.get(metadata.component['bom-ref']) ?? [];
  const found = new Set(own.filter((ref) => ours.some((one) => one['bom-ref'] === ref)));
  // A set visits what is added while it is walked.
  for (const ref of found) for (const next of needs.get(ref) ?? []) found.add(next);
  return found;
}
