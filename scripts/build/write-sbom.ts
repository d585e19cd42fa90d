import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { type BundledPackage, nameOf } from './bundled-packages.ts';
import { checkSbom } from './check-sbom.ts';

/** What is read of the list that npm makes; the rest is passed on as it is. */
interface Sbom {
  serialNumber?: string;
  metadata: { timestamp?: string; component: { 'bom-ref': string; name: string } };
  components: { 'bom-ref': string; scope?: string; properties: { name: string }[] }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/** How a notice of a page names a package: `## koa - 3.3.0 (MIT)`. */
const headingOfPage = /^## (\S+) - (\S+) \(.*\)$/gm;

/** What npm says of a package that is installed for development alone. */
const development = 'cdx:npm:package:development';

/**
 * Writes what the package ships as a CycloneDX list: what is inside the bundle and the pages, and what npm installs
 * beside them. Names, hashes and terms are those of the lock file; without a date and a serial number the same sources
 * make the same list. Throws when npm makes no list, when the list is not valid, and for what ships and stands in no lock file.
 */
export function writeSbom(
  file: string,
  { root, packages, pages }: { root: string; packages: readonly BundledPackage[]; pages: string },
): void {
  const made = spawnSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (made.status !== 0) throw new Error(`npm sbom failed; it needs npm 10: ${made.stderr}`);
  const sbom = JSON.parse(made.stdout) as Sbom;
  const inPages = [...pages.matchAll(headingOfPage)].map(
    ([, name, version]) => `${name}@${version}`,
  );
  const inside = new Set([...packages.map(nameOf), ...inPages]);
  const own = sbom.metadata.component['bom-ref'];
  const components = sbom.components.filter(
    ({ 'bom-ref': ref, properties }) =>
      inside.has(ref) || !properties.some(({ name }) => name === development),
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
