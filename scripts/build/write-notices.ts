import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BundledPackage } from './bundled-packages.ts';

/** The files of a package that say under which terms it is passed on. */
const terms = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/**
 * Writes one file with the terms of every package, each text once, and at its end what `pages` says of those in the
 * pages. Throws where a package names no terms at all.
 */
export function writeNotices(
  file: string,
  packages: readonly BundledPackage[],
  pages: string,
): void {
  const listed = packages.map(({ name, version, license }) => {
    if (license === null) throw new Error(`${name} ${version} names no license; ask its author`);
    return `- ${name} ${version}: ${license}`;
  });
  const texts = Map.groupBy(packages.flatMap(termsOf), ({ text }) => text);
  const said = [...texts].map(([text, owners]) => {
    const names = [...new Set(owners.map(({ name }) => name))].toSorted().join(', ');
    return `## ${names}\n\n${text}`;
  });
  const heading = '# Packages inside Holdpoint, and their terms';
  const parts = [heading, [...new Set(listed)].toSorted().join('\n'), ...said.toSorted()];
  writeFileSync(file, `${[...parts, '# In the pages of the dashboard', pages].join('\n\n')}\n`);
}

function termsOf({ name, version, folder }: BundledPackage): { name: string; text: string }[] {
  return readdirSync(folder)
    .filter((file) => terms.test(file))
    .map((file) => ({
      name: `${name} ${version}`,
      text: readFileSync(join(folder, file), 'utf8').trim(),
    }));
}
