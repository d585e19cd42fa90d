import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

const citation = /docs\/contract\/[\w-]+\.md(#[\w-]+)?/g;

/** Heading anchors of a page, built as GitHub builds them. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}

function leadsToASection(cited: string): boolean {
  const [file = '', anchor] = cited.split('#');
  const path = join(root, file);
  return (
    existsSync(path) &&
    (anchor === undefined || anchorsOf(readFileSync(path, 'utf8')).includes(anchor))
  );
}

it('the contract has the page and the section of each citation', () => {
  const files = globSync('{src,packages,test,scripts,bench}/**/*.{ts,svelte,mjs}', { cwd: root });
  const cited = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(citation)].map(([name]) => ({
      file,
      name,
    })),
  );
  expect(cited.length).toBeGreaterThan(200);
  expect(cited.filter(({ name }) => !leadsToASection(name))).toEqual([]);
});

it('the contract lists each page in its index', () => {
  const index = readFileSync(join(root, 'docs/contract/README.md'), 'utf8');
  const listed = [...index.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name]) => name);
  const pages = globSync('*.md', { cwd: join(root, 'docs/contract') });
  expect(new Set(['README.md', ...listed])).toEqual(new Set(pages));
});
