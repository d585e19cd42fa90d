import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';

/** What is read of a CycloneDX list; the schema checks the rest. */
interface Sbom {
  metadata: { component: { 'bom-ref': string } };
  components: { 'bom-ref': string; licenses?: { expression?: string }[] }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/** Folder of the schemas of CycloneDX and of the list of SPDX ids, in the package that brings them. */
const folder = join(
  dirname(createRequire(import.meta.url).resolve('@cyclonedx/cyclonedx-library/package.json')),
  'res/schema',
);

const home = 'http://cyclonedx.org/schema';

/**
 * Checks a CycloneDX list against the schema of version 1.5, which has the ids of SPDX licences, and its expressions and
 * references, which the schema leaves open. Throws for the first fault.
 */
export function checkSbom(sbom: object): void {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  // The schema refers to the others by the names of their files.
  for (const name of ['spdx', 'jsf-0.82']) ajv.addSchema(read(name), `${home}/${fileOf(name)}`);
  const bom = read('bom-1.5');
  const isValid = ajv.compile(bom);
  if (!isValid(sbom)) {
    const [fault] = isValid.errors ?? [];
    throw new Error(`the SBOM is not valid: ${fault?.instancePath} ${fault?.message}`);
  }
  const { metadata, components, dependencies } = sbom as Sbom;
  checkExpressions(components);
  const refs = [metadata.component, ...components].map((one) => one['bom-ref']);
  const known = new Set(refs);
  if (known.size < refs.length) throw new Error('the SBOM has a component twice');
  const named = dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
  const stray = named.find((ref) => !known.has(ref));
  if (stray !== undefined) throw new Error(`the SBOM names ${stray}, and does not list it`);
}

function checkExpressions(components: Sbom['components']): void {
  const ids = new Set((read('spdx') as { enum: string[] }).enum);
  for (const { 'bom-ref': ref, licenses = [] } of components) {
    for (const { expression = '' } of licenses) {
      const words = expression.replaceAll(/[()]/g, ' ').split(/\s+/);
      const wrong = words.find(
        (word) => word !== '' && !/^(?:AND|OR|WITH)$/.test(word) && !ids.has(word),
      );
      if (wrong !== undefined) throw new Error(`${ref} has the licence ${wrong}, which SPDX lacks`);
    }
  }
}

function read(name: string): object {
  return JSON.parse(readFileSync(join(folder, fileOf(name)), 'utf8')) as object;
}

function fileOf(name: string): string {
  return `${name}.SNAPSHOT.schema.json`;
}
