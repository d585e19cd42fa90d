import type { Token, Tokens } from 'marked';
import type { Output } from '../output.ts';
import { unescaped } from './plain-inline.ts';
import { joined, type Piece, wrapWords } from './wrap-words.ts';

/** How a table is shown in a terminal. */
interface TableOptions {
  /** Characters of a line. Code is never broken. */
  width: number;
  colours: Output['colours'];
}

/** Blanks between two columns. */
const gap = '  ';

/** Minimum width of the last column; a table that leaves less is shown as a list. */
const narrowest = 24;

/** Maximum share of the width for a column that is not the last. */
const widestShare = 0.4;

/** Renders a table, its header first: in columns if they fit, otherwise as a list with one entry for each row. */
function tableLines(rows: readonly Piece[][][], options: TableOptions): string[] {
  const widths = widthsOf(rows, options.width);
  return widths === null ? listOf(rows, options) : columnsOf(rows, widths, options);
}

/** Returns the widths of the columns, of which the last gets the rest; `null` if they do not fit. */
function widthsOf(rows: readonly Piece[][][], width: number): number[] | null {
  const count = rows[0]?.length ?? 0;
  const widest = Array.from({ length: count }, (_, column) =>
    Math.max(...rows.map((row) => [...joined(row[column] ?? [])].length)),
  );
  const most = Math.floor(width * widestShare);
  const first = widest.slice(0, -1).map((needed) => Math.min(needed, most));
  const taken = first.reduce((sum, one) => sum + one + gap.length, 0);
  const left = width - taken;
  const last = Math.min(widest.at(-1) ?? 0, left);
  return left < Math.min(narrowest, widest.at(-1) ?? 0) ? null : [...first, last];
}

function columnsOf(
  rows: readonly Piece[][][],
  widths: readonly number[],
  { colours }: TableOptions,
): string[] {
  const [header = [], ...body] = rows;
  const titles = header.map((cell) => cell.map(({ text }) => ({ text, style: colours.bold })));
  const rule = colours.dim(widths.map((width) => '─'.repeat(width)).join(gap));
  return [...rowLines(titles, widths), rule, ...body.flatMap((row) => rowLines(row, widths))];
}

/** Lays the cells of a row side by side. */
function rowLines(row: readonly Piece[][], widths: readonly number[]): string[] {
  const cells = widths.map((width, column) => {
    const shown = wrapWords(row[column] ?? [], width);
    const plain = wrapWords((row[column] ?? []).map(withoutStyle), width);
    return { width, shown, plain };
  });
  const height = Math.max(...cells.map(({ shown }) => shown.length));
  return Array.from({ length: height }, (_, at) =>
    cells
      .map(({ width, shown, plain }) => {
        const blanks = width - [...(plain[at] ?? '')].length;
        return (shown[at] ?? '') + ' '.repeat(Math.max(0, blanks));
      })
      .join(gap)
      .trimEnd(),
  );
}

function withoutStyle({ text }: Piece): Piece {
  return { text, style: String };
}

function listOf(rows: readonly Piece[][][], { width, colours }: TableOptions): string[] {
  const [header = [], ...body] = rows;
  return body.flatMap((row) => {
    const [first = [], ...others] = row;
    const head = first.map(({ text }) => ({ text, style: colours.bold }));
    const rest = others.flatMap((cell, index) => {
      if (joined(cell).trim() === '') return [];
      const name = { text: `${joined(header[index + 1] ?? [])}: `, style: colours.dim };
      return wrapWords([name, ...cell], width - 4).map((line) => `    ${line}`);
    });
    return [...wrapWords(head, width), ...rest, ''];
  });
}

/** How a page is shown in a terminal. */
export interface TerminalOptions extends TableOptions {
  /** Returns how a link is named after its text, such as `[egress]`; empty for an omitted link. */
  linkName: (href: string) => string;
}

/** Renders parsed Markdown as lines for a terminal. */
export function terminalPage(tokens: readonly Token[], options: TerminalOptions): string {
  const lines = blocks(tokens, options).join('\n');
  return `${lines.replaceAll(/\n{3,}/g, '\n\n').trim()}\n`;
}

function blocks(tokens: readonly Token[], options: TerminalOptions): string[] {
  return tokens.flatMap((token) => block(token, options));
}

function block(token: Token, options: TerminalOptions): string[] {
  const { width, colours } = options;
  switch (token.type) {
    case 'heading': {
      const { depth, tokens } = token as Tokens.Heading;
      const style = (text: string) =>
        colours.bold(depth === 1 ? colours.underline(text) : colours.cyan(text));
      const pieces = inline(tokens, options).map(({ text }) => ({ text, style }));
      return ['', ...wrapWords(pieces, width), ''];
    }
    case 'paragraph':
      return [...wrapWords(inline((token as Tokens.Paragraph).tokens, options), width), ''];
    case 'text': {
      const { tokens = [] } = token as Tokens.Text;
      return wrapWords(inline(tokens.length > 0 ? tokens : [token], options), width);
    }
    case 'code':
      return [...(token as Tokens.Code).text.split('\n').map(indentCode(options)), ''];
    case 'list':
      return [...(token as Tokens.List).items.flatMap(listItem(token as Tokens.List, options)), ''];
    case 'table':
      return [...tableLines(rowsOf(token as Tokens.Table, options), options), ''];
    case 'blockquote':
      return [...indented((token as Tokens.Blockquote).tokens, options, '│ '), ''];
    case 'hr':
      return [colours.dim('─'.repeat(Math.min(width, 40))), ''];
    default:
      return [];
  }
}

function indentCode({ colours }: TerminalOptions): (line: string) => string {
  return (line) => (line === '' ? '' : `    ${colours.green(line)}`);
}

function listItem(list: Tokens.List, options: TerminalOptions) {
  return (item: Tokens.ListItem, index: number): string[] => {
    const first = list.ordered ? `${Number(list.start) + index}. ` : '- ';
    const rest = ' '.repeat(first.length);
    const lines = blocks(item.tokens, { ...options, width: options.width - first.length });
    while (lines.at(-1) === '') lines.pop();
    return lines.map((line, at) => (at === 0 ? first : line === '' ? '' : rest) + line);
  };
}

function indented(tokens: readonly Token[], options: TerminalOptions, mark: string): string[] {
  const lines = blocks(tokens, { ...options, width: options.width - mark.length });
  while (lines.at(-1) === '') lines.pop();
  return lines.map((line) => options.colours.dim(mark) + line);
}

function rowsOf({ header, rows }: Tokens.Table, options: TerminalOptions): Piece[][][] {
  return [header, ...rows].map((row) => row.map(({ tokens }) => inline(tokens, options)));
}

/** Returns the pieces of a string with their styles. */
function inline(tokens: readonly Token[], options: TerminalOptions): Piece[] {
  return tokens.flatMap((token) => pieces(token, options));
}

function pieces(token: Token, options: TerminalOptions): Piece[] {
  const { colours } = options;
  switch (token.type) {
    case 'strong':
      return styled(inline((token as Tokens.Strong).tokens, options), colours.bold);
    case 'em':
      return styled(inline((token as Tokens.Em).tokens, options), colours.italic);
    case 'del':
      return styled(inline((token as Tokens.Del).tokens, options), colours.strikethrough);
    case 'codespan': {
      const text = unescaped((token as Tokens.Codespan).text);
      return [{ text: colours.isColorSupported ? text : `\`${text}\``, style: colours.cyan }];
    }
    case 'link': {
      const { href, tokens } = token as Tokens.Link;
      const named = options.linkName(href);
      const text = inline(tokens, options);
      return named === '' ? text : [...text, { text: ` ${named}`, style: colours.dim }];
    }
    case 'image':
      return [{ text: `[image: ${(token as Tokens.Image).text}]`, style: colours.dim }];
    case 'br':
      return [{ text: '\n', style: String }];
    case 'html':
      return /^<br\b/.test(token.raw) ? [{ text: '\n', style: String }] : [];
    default: {
      const inner = 'tokens' in token ? token.tokens : undefined;
      if (inner !== undefined && inner.length > 0) return inline(inner, options);
      const text = unescaped((token as Tokens.Text).text).replaceAll('\n', ' ');
      return [{ text, style: String }];
    }
  }
}

function styled(pieces: readonly Piece[], outer: (text: string) => string): Piece[] {
  return pieces.map(({ text, style }) => ({ text, style: (part) => outer(style(part)) }));
}
