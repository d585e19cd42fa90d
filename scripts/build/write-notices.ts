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

/** The text of terms for packages that name them and bring no text. */
const texts: Record<string, string | undefined> = {
  MIT: readFileSync(join(import.meta.dirname, 'mit.txt'), 'utf8').trim(),
  'Apache-2.0': readFileSync(join(import.meta.dirname, '../../LICENSE'), 'utf8').trim(),
};

function termsOf({ name, version, license, folder }: BundledPackage): Terms[] {
  const files = readdirSync(folder);
  const brought = files
    .filter((file) => terms.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const own = brought.length > 0 ? brought : [inReadme(folder, files) ?? usual(name, license)];
  return own.map((text) => ({ name: `${name} ${version}`, text }));
}

interface Terms {
  name: string;
  text: string;
}

/** Finds terms that stand in full at the end of what a package says of itself. */
function inReadme(folder: string, files: readonly string[]): string | null {
  const readme = files.find((file) => /^readme(\..*)?$/i.test(file));
  const said = readme === undefined ? '' : readFileSync(join(folder, readme), 'utf8');
  const [, section = ''] = /^#+ *licen[cs]e\s*$(.*)/ims.exec(said) ?? [];
  return section.includes('Permission is hereby granted') ? section.trim() : null;
}

function usual(name: string, license: string | null): string {
  const text = texts[license ?? ''];
  if (text !== undefined) return `Copyright (c) the authors of ${name}\n\n${text}`;
  throw new Error(`${name} brings no text of ${license ?? 'its license'}; add one here`);
}
