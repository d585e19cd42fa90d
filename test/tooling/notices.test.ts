import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { BundledPackage } from '../../scripts/build/bundled-packages.ts';
import { KeptTerms } from '../../scripts/build/kept-terms.ts';
import { writeNotices } from '../../scripts/build/write-notices.ts';
import { root } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'notices-'));
afterAll(() => rmSync(folder, { recursive: true }));

function packageWith(name: string, version: string, files: Record<string, string>): BundledPackage {
  const own = join(folder, `${name}-${version}`);
  mkdirSync(own, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(own, file), text);
  return { name, version, license: 'MIT', folder: own };
}

function keptTerms(texts: object[]): KeptTerms {
  const own = mkdtempSync(join(folder, 'licenses-'));
  writeFileSync(join(own, 'licenses.json'), JSON.stringify(texts));
  writeFileSync(join(own, 'a.txt'), 'Copyright 2020 Ann\n\nAll may use it.\n');
  return new KeptTerms(own);
}

function noticesOf(packages: BundledPackage[], texts: object[]): string {
  const file = join(folder, 'licenses.md');
  writeNotices(file, packages, 'Pages', keptTerms(texts));
  return readFileSync(file, 'utf8');
}

const kept = { name: 'bare', versions: '2.x', file: 'a.txt', source: 'https://a.example' };

describe('the notices of a release', () => {
  it('have the terms of each package, or those of its repository', () => {
    const brings = packageWith('brings', '1.0.0', { LICENSE: 'Copyright 2021 Bob\n' });
    const bare = packageWith('bare', '2.7.1', { 'README.md': '# bare\n' });
    expect(noticesOf([brings, bare], [kept])).toBe(`# Packages inside Holdpoint, and their terms

- bare 2.7.1: MIT
- brings 1.0.0: MIT

## bare 2.7.1

Copyright 2020 Ann

All may use it.

## brings 1.0.0

Copyright 2021 Bob

# In the pages of the dashboard

Pages
`);
  });

  it('refuse a version with unknown terms', () => {
    const bare = packageWith('bare', '3.0.0', {});
    expect(() => noticesOf([bare], [kept])).toThrow(
      'bare@3.0.0 brings no text of MIT; put the one of its repository into scripts/build/licenses',
    );
  });

  it('refuse an unneeded text', () => {
    const bare = packageWith('bare', '2.0.0', { LICENSE: 'Copyright 2022 Ann\n' });
    expect(() => noticesOf([bare], [kept])).toThrow(
      'scripts/build/licenses has an unneeded text for bare 2.x; remove it',
    );
  });

  it('refuse a package without terms', () => {
    const bare = { ...packageWith('bare', '2.0.0', {}), license: null };
    expect(() => noticesOf([bare], [kept])).toThrow('bare 2.0.0 names no license; ask its author');
  });
});

describe('the texts that packages do not contain', () => {
  const place = join(root, 'scripts/build/licenses');
  const texts = JSON.parse(readFileSync(join(place, 'licenses.json'), 'utf8')) as (typeof kept)[];

  it('name their holder and their source', () => {
    for (const { file, source } of texts) {
      expect([
        file,
        /Copyright (\(c\) )?\d{4}/.test(readFileSync(join(place, file), 'utf8')),
      ]).toEqual([file, true]);
      expect(source).toMatch(/^https:\/\/github\.com\//);
    }
    const files = readdirSync(place).filter((file) => file !== 'licenses.json');
    expect(files).toEqual([...new Set(texts.map(({ file }) => file))].toSorted());
  });

  it('are for packages without one', () => {
    const bringing = texts.filter(({ name }) =>
      existsSync(join(root, 'node_modules', name, 'LICENSE')),
    );
    expect(bringing).toEqual([]);
  });
});
