import type { DocPage } from './doc-pages.ts';
import { docSections } from './doc-sections.ts';
import { plainInline } from './plain-inline.ts';

/** A section that contains every word. */
export interface DocMatch {
  page: DocPage;
  anchor: string;
  heading: string;
  /** The text around the first word. */
  excerpt: string;
}

/** Maximum number of sections. */
const mostMatches = 20;

/** Characters of an excerpt before and after the first word. */
const around = 50;

/** Finds the sections that contain every word, sections with a word in the heading first. */
export function searchPages(pages: readonly DocPage[], words: readonly string[]): DocMatch[] {
  const wanted = words.map((word) => word.toLowerCase()).filter((word) => word !== '');
  if (wanted.length === 0) return [];
  const found = pages.flatMap((page) =>
    docSections(page.text).flatMap(({ anchor, heading, tokens }) => {
      const text = tokens.slice(1).map(plainBlock).join(' ');
      const [head, body] = [`${page.name} ${heading}`.toLowerCase(), text.toLowerCase()];
      if (!wanted.every((word) => head.includes(word) || body.includes(word))) return [];
      const inHeading = wanted.filter((word) => head.includes(word)).length;
      const count = wanted.reduce((sum, word) => sum + body.split(word).length - 1, 0);
      const score = inHeading * 100 + Math.min(count, 50) - (isGenerated(page) ? 50 : 0);
      return [{ score, match: { page, anchor, heading, excerpt: excerptOf(text, wanted) } }];
    }),
  );
  const best = found.toSorted((one, other) => other.score - one.score).slice(0, mostMatches);
  return best.map(({ match }) => match);
}

/** Pages that list everything match most words, and explain few. */
function isGenerated({ name }: DocPage): boolean {
  return name === 'changelog' || name === 'errors' || name.startsWith('statecharts');
}

function plainBlock(token: { type: string; raw: string }): string {
  if (token.type === 'code') return token.raw.replaceAll(/^```.*$/gm, ' ');
  if (token.type === 'paragraph' || token.type === 'heading') return plainInline(token);
  return token.raw.replaceAll(/[|*`]|\]\([^)]*\)|\[|<br>|-{3,}/g, ' ');
}

function excerptOf(text: string, [first = '']: readonly string[]): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const at = Math.max(0, line.toLowerCase().indexOf(first));
  const start = line.lastIndexOf(' ', Math.max(0, at - around)) + 1;
  const end = line.indexOf(' ', at + first.length + around);
  const cut = line.slice(start, end < 0 ? undefined : end);
  return `${start > 0 ? '… ' : ''}${cut}${end < 0 ? '' : ' …'}`;
}
