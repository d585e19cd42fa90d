import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BundledPackage } from './bundled-packages.ts';
import { KeptTerms } from './kept-terms.ts';

/** The files of a package that say under which terms it is passed on. */
const terms = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/**
 * Writes one file with the terms of every package, each text once, and at its end what `pages` says of those in the
 * pages. Throws where a package names no terms at all, and where no text of them is known.
 */
export function writeNotices(
  file: string,
  packages: readonly BundledPackage[],
  pages: string,
  kept: KeptTerms = new KeptTerms(),
): void {
  const listed = packages.map(({ name, version, license }) => {
    if (license === null) throw new Error(`${name} ${version} names no license; ask its author`);
    return `- ${name} ${version}: ${license}`;
  });
  const all = packages.flatMap((one) => termsOf(one, kept));
  kept.refuseIdle();
  const texts = Map.groupBy(all, ({ text }) => text);
  const said = [...texts].map(([text, owners]) => {
    const names = [...new Set(owners.map(({ name }) => name))].toSorted().join(', ');
    return `## ${names}\n\n${text}`;
  });
  const heading = '# Packages inside Holdpoint, and their terms';
  const parts = [heading, [...new Set(listed)].toSorted().join('\n'), ...said.toSorted()];
  writeFileSync(file, `${[...parts, '# In the pages of the dashboard', pages].join('\n\n')}\n`);
}

function termsOf(one: BundledPackage, kept: KeptTerms): Terms[] {
  const { name, version, folder } = one;
  const files = readdirSync(folder);
  const brought = files
    .filter((file) => terms.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const own = brought.length > 0 ? brought : [inReadme(folder, files) ?? kept.textOf(one)];
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
