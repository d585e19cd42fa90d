import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { marked } from 'marked';
import { packageRoot } from '../../package-root.ts';
import { plainInline } from './plain-inline.ts';

/** A page of the documentation in the package. */
export interface DocPage {
  /** What `docs NAME` opens: `approvals/approver` for `docs/approvals/approver.md`. */
  name: string;
  /** Path in the package, with `/` between folders. */
  path: string;
  title: string;
  /** The first sentence. */
  summary: string;
  text: string;
}

/** Pages above the folder `docs`. A clone has all of them. */
const others = ['README.md', 'SECURITY.md', 'CHANGELOG.md'];

/** Characters of a summary; a longer sentence is cut. */
const longestSummary = 110;

/** Reads every page of the documentation, in the order of the names. */
export function docPages(): DocPage[] {
  const inDocs = globSync('docs/**/*.md', { cwd: packageRoot }).map((path) =>
    path.replaceAll('\\', '/'),
  );
  const paths = [...inDocs, ...others.filter((path) => existsSync(join(packageRoot, path)))];
  const pages = paths.map((path): DocPage => {
    const text = readFileSync(join(packageRoot, path), 'utf8');
    return { name: nameOf(path), path, ...beginningOf(text), text };
  });
  return pages.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns the name of a page by its path; the page `README.md` of a folder has the name of the folder. */
export function nameOf(path: string): string {
  if (others.includes(path)) return path.replace(/\.md$/, '').toLowerCase();
  return path.replace(/^docs\//, '').replace(/(?:\/README)?\.md$/, '');
}

function beginningOf(text: string): { title: string; summary: string } {
  const tokens = marked.lexer(text);
  const heading = tokens.find(({ type }) => type === 'heading');
  const paragraph = tokens.find(({ type }) => type === 'paragraph');
  const [first = ''] = plainInline(paragraph).split(/(?<=[.!?])\s/);
  return { title: plainInline(heading), summary: cut(first) };
}

function cut(sentence: string): string {
  if (sentence.length <= longestSummary) return sentence;
  return `${sentence.slice(0, longestSummary).replace(/\s+\S*$/, '')} …`;
}
