import { fromMarkdown } from 'mdast-util-from-markdown';

/** The top of a parsed text. */
type Root = ReturnType<typeof fromMarkdown>;

/** Anything that stands in a Markdown text. */
export type MarkdownNode = Root['children'][number];

/**
 * Parses the blocks of a Markdown text (CommonMark); what stands inside a paragraph stays as it is written.
 * Lists and quotes are read as text where they nest beyond reason, since their cost grows with the square of the depth.
 */
export function parseMarkdown(markdown: string): Root {
  const off = nestsDeeply.test(markdown) ? [...inline, ...containers] : inline;
  // A byte order mark is left out of the places otherwise.
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

/** Nine markers in one line, or one behind 64 columns. */
const nestsDeeply = /^(?:[ \t]*(?:[-*+>]|\d{1,9}[.)])){9}|^[ \t]{64,}(?:[-*+>]|\d{1,9}[.)])/m;
