import { marked, type Token, type Tokens, type TokensList } from 'marked';
import { plainInline } from './plain-inline.ts';

/** A heading of a page with the text below it, up to the next heading. */
export interface DocSection {
  /** The part after `#` in a link to it. */
  anchor: string;
  heading: string;
  depth: number;
  tokens: Token[];
}

/** Splits a page at its headings. Anchors are those of GitHub. */
export function docSections(text: string): DocSection[] {
  const sections: DocSection[] = [];
  const seen = new Map<string, number>();
  for (const token of lexed(text)) {
    if (token.type === 'heading') {
      const heading = plainInline(token);
      const { depth } = token as Tokens.Heading;
      sections.push({ anchor: uniqueAnchor(heading, seen), heading, depth, tokens: [token] });
    } else sections.at(-1)?.tokens.push(token);
  }
  return sections;
}

/** Returns a section and the sections below it; `null` if the page has no such anchor. */
export function tokensAt(text: string, anchor: string): Token[] | null {
  const sections = docSections(text);
  const start = sections.findIndex((section) => section.anchor === anchor);
  const first = sections[start];
  if (first === undefined) return null;
  const rest = sections.slice(start + 1);
  const end = rest.findIndex(({ depth }) => depth <= first.depth);
  return [first, ...(end < 0 ? rest : rest.slice(0, end))].flatMap(({ tokens }) => tokens);
}

/** Parses a page. */
export function lexed(text: string): TokensList {
  return marked.lexer(text);
}

function uniqueAnchor(heading: string, seen: Map<string, number>): string {
  const anchor = heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
  const count = seen.get(anchor) ?? 0;
  seen.set(anchor, count + 1);
  return count === 0 ? anchor : `${anchor}-${count}`;
}
