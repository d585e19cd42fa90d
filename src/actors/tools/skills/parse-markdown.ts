import { fromMarkdown } from 'mdast-util-from-markdown';

/** Root node of a parsed text. */
type Root = ReturnType<typeof fromMarkdown>;

/** A node of a Markdown text. */
export type MarkdownNode = Root['children'][number];

/**
 * Parses the blocks of a Markdown text (CommonMark); inline content stays unparsed. Excessively nested lists and quotes
 * are read as text, since the cost is quadratic in the depth.
 */
export function parseMarkdown(markdown: string): Root {
  const off = nestsDeeply.test(markdown) ? [...inline, ...containers] : inline;
  // Replaced by a blank, since the parser omits a byte order mark from its positions.
  const text = markdown.replace(/^\uFEFF/, ' ');
  return fromMarkdown(text, { extensions: [{ disable: { null: off } }] });
}

const inline = [
  'attention',
  'autolink',
  'characterEscape',
  'characterReference',
  'codeText',
  'definition',
  'hardBreakEscape',
  'htmlText',
  'labelEnd',
  'labelStartImage',
  'labelStartLink',
];

const containers = ['blockQuote', 'list'];

/** Nine markers in one line, or one after 64 columns. */
const nestsDeeply = /^(?:[ \t]*(?:[-*+>]|\d{1,9}[.)])){9}|^[ \t]{64,}(?:[-*+>]|\d{1,9}[.)])/m;
