import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of a package that say under which terms it is passed on. */
const terms = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/** The folder of the package that a module belongs to. */
const packageFolder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

interface BundledPackage {
  name: string;
  license: string;
  texts: string[];
}

/**
 * Writes one file with the terms of every package that `modules` belong to, each text once, and at its end what `pages`
 * says of those in the pages. Throws where a package names no terms at all.
 */
export function writeNotices(file: string, modules: readonly string[], pages: string): void {
  const folders = new Set(modules.flatMap((path) => packageFolder.exec(path)?.[0] ?? []));
  const packages = [...folders].map(readPackage);
  const texts = Map.groupBy(
    packages.flatMap(({ name, texts: own }) => own.map((text) => ({ name, text }))),
    ({ text }) => text,
  );
  const listed = packages.map(({ name, license }) => `- ${name}: ${license}`);
  const said = [...texts].map(([text, owners]) => {
    const names = [...new Set(owners.map(({ name }) => name))].toSorted().join(', ');
    return `## ${names}\n\n${text}`;
  });
  const heading = '# Packages inside Holdpoint, and their terms';
  const parts = [heading, [...new Set(listed)].toSorted().join('\n'), ...said.toSorted()];
  writeFileSync(file, `${[...parts, '# In the pages of the dashboard', pages].join('\n\n')}\n`);
}

function readPackage(folder: string): BundledPackage {
  const { name, version, license } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as { name: string; version: string; license?: string };
  const texts = readdirSync(folder)
    .filter((file) => terms.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (license === undefined) throw new Error(`${name} ${version} names no license; ask its author`);
  return { name: `${name} ${version}`, license, texts };
}
