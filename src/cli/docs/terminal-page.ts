import type { Token, Tokens } from 'marked';
import { unescaped } from './plain-inline.ts';
import { type TableOptions, tableLines } from './terminal-table.ts';
import { type Piece, wrapWords } from './wrap-words.ts';

/** How a page is shown in a terminal. */
export interface TerminalOptions extends TableOptions {
  /** Returns how a link is named after its text, such as `[egress]`; empty for a link that is left out. */
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

/** Returns the pieces of a text with their styles. */
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
